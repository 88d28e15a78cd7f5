// The stylesheet: small, and without rules that nothing uses.

import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { STYLE } from "../../../src/web/server/assets.ts";

const FOLDER = new URL("../../../src", import.meta.url).pathname;

test("the stylesheet has at most 15 KB, and a page uses every class in it", () => {
  expect(STYLE.text.length).toBeLessThan(15 * 1024);
  const sources = [...new Bun.Glob("{panel,web}/**/*.tsx").scanSync(FOLDER)]
    .map((name) => readFileSync(`${FOLDER}/${name}`, "utf8"))
    .join("\n");
  const classes = new Set(
    [...STYLE.text.matchAll(/\.([a-z][a-z-]*)(?=[^{}]*\{)/g)].map(([, name]) => name!),
  );
  expect(classes.size).toBeGreaterThan(40);
  const isUsed = (name: string) => new RegExp(`["\\s\`]${name}["\\s\`$]`).test(sources);
  expect([...classes].filter((name) => !isUsed(name))).toEqual([]);
});
