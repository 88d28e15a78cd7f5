// The stylesheet and the script: small, in one design language, and without rules that nothing uses.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { SCRIPT, STYLE } from "../../../src/web/server/assets.ts";

const FOLDER = new URL("../../../src", import.meta.url).pathname;

const ASSETS = `${FOLDER}/web/server/assets`;
const styles = readdirSync(ASSETS)
  .filter((name) => name.endsWith(".css"))
  .map((name) => ({ name, text: readFileSync(`${ASSETS}/${name}`, "utf8") }));
const tokens = styles.find(({ name }) => name === "tokens.css")!.text;
const others = styles.filter(({ name }) => name !== "tokens.css");

test("the script has at most 15 KB", () => {
  expect(SCRIPT.text.length).toBeLessThan(15 * 1024);
});

test("every colour, size of type, distance, radius and shadow is a token, and every token is used", () => {
  const design =
    /^\s*(?:color|background|fill|stroke|accent-color|border-color|font-size|font|border-radius|box-shadow|padding[a-z-]*|margin[a-z-]*|gap): (.+);$/gm;
  const given = others.flatMap(({ name, text }) =>
    [...text.matchAll(design)].map(([, value]) => `${name}: ${value}`),
  );
  expect(given.length).toBeGreaterThan(100);
  const isLiteral = (value: string) => /#[0-9a-f]{3}|rgb|[1-9]\d*px/.test(value);
  expect(given.filter(isLiteral)).toEqual([]);
  expect(others.filter(({ text }) => /#[0-9a-f]{3,8}\b|rgb\(/.test(text))).toEqual([]);
  const names = new Set([...tokens.matchAll(/(--[a-z0-9-]+):/g)].map(([, name]) => name!));
  const used = others.map(({ text }) => text).join("");
  expect([...names].filter((name) => !used.includes(`var(${name})`))).toEqual([]);
  const wanted = [...used.matchAll(/var\((--[a-z0-9-]+)\)/g)].map(([, name]) => name!);
  expect(wanted.filter((name) => !names.has(name))).toEqual([]);
});

test("the stylesheet has at most 15 KB, and a page uses every class in it", () => {
  expect(STYLE.text.length).toBeLessThan(15 * 1024);
  const sources = [...new Bun.Glob("{panel,portal,web}/**/*.tsx").scanSync(FOLDER)]
    .map((name) => readFileSync(`${FOLDER}/${name}`, "utf8"))
    .join("\n");
  const classes = new Set(
    [...STYLE.text.matchAll(/\.([a-z][a-z-]*)(?=[^{}]*\{)/g)].map(([, name]) => name!),
  );
  expect(classes.size).toBeGreaterThan(40);
  const isUsed = (name: string) => new RegExp(`["\\s\`]${name}["\\s\`$]`).test(sources);
  expect([...classes].filter((name) => !isUsed(name))).toEqual([]);
});
