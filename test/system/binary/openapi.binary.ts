// The binary's OpenAPI document in other tools: a linter finds no error, and a generated client compiles and places
// an order.

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import openapiTypes, { astToString } from "openapi-typescript";
import { type Serving, stall, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
/** Below the project, so that its modules are found. */
const FOLDER = join(ROOT, "dist", "client");
const DOCUMENT = join(FOLDER, "openapi.json");

let server: Serving;
let key: string;

beforeAll(async () => {
  ({ server, key } = await stall(freshFolder()));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(DOCUMENT, await (await fetch(`${server.url}/openapi.json`)).text());
});

afterAll(() => stop(server));

function run(...command: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd: FOLDER,
    // No word to anyone about the use of a tool.
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  return { code: exitCode, said: stdout.toString() + stderr.toString() };
}

test("a linter finds no error in it", () => {
  const redocly = join(ROOT, "node_modules/.bin/redocly");
  const { code, said } = run(
    redocly,
    "lint",
    "--config",
    join(ROOT, "test/support/http/redocly.yaml"),
    DOCUMENT,
  );
  expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  expect(said).toContain("is valid");
});

test("a client generated from it compiles, rejects wrong input, and places an order", async () => {
  const types = await openapiTypes(new URL(`file://${DOCUMENT}`));
  writeFileSync(join(FOLDER, "api.d.ts"), astToString(types));
  cpSync(join(ROOT, "test/support/http/generated-client.ts.txt"), join(FOLDER, "client.ts"));
  cpSync(join(ROOT, "tsconfig.json"), join(FOLDER, "tsconfig.base.json"));
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({
      extends: "./tsconfig.base.json",
      compilerOptions: { lib: ["ESNext", "DOM", "DOM.Iterable"] },
      include: ["client.ts"],
    }),
  );
  expect(run(process.execPath, "check", "--no-script")).toMatchObject({ code: 0 });
  const { code, said } = run(process.execPath, "client.ts", server.url, key);
  expect({ code, said }).toEqual({ code: 0, said: "placed and found 1\n" });
});
