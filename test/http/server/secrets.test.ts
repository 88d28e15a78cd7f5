// A key's text is shown once, when it is created: it is in no file of the data directory and in no line of the log.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { optionsOf } from "../../support/worlds/shop.ts";
import { spawnServe } from "../../support/process.ts";
import { callApi } from "../../support/http/api.ts";
import { dumpOf, freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { ENGINE } from "../../support/databases/engine.ts";

const SECRET_NOTE = "zqx7private";

/** Which files of its folder, and which of its tables, hold one of the texts. */
function placesWith(database: TestDatabase, texts: readonly string[]): string[] {
  const files = readdirSync(database.folder).map((file): [string, string] => [
    file,
    readFileSync(join(database.folder, file)).toString("latin1"),
  ]);
  const tables = TABLES.map((table): [string, string] => [table.name, dumpOf(database, table)]);
  return [...files, ...tables]
    .filter(([, content]) => texts.some((text) => content.includes(text)))
    .map(([place]) => place);
}

test("a key's text is nowhere in the files or the log, while it serves and after it has stopped", async () => {
  const database = freshDatabase();
  database.user("anna", "100");
  database.user("cleo", "1", "anna");
  const service = database.service();
  const full = database.key("anna", "full");
  const off = database.key("anna", "full");
  const weak = database.key("anna", "order");
  database.run("setKeyActive", { id: off.id, active: false });
  const mistyped = `${full.text.slice(0, -1)}${full.text.endsWith("a") ? "b" : "a"}`;
  const keys = [full.text, off.text, weak.text, mistyped];
  const serve = await spawnServe(database.folder, ...optionsOf(database), "--log-level", "debug");

  const order = { service, link: "x", quantity: 100 };
  for (const key of keys) {
    await callApi(serve.url, "POST", "/orders", key, order);
    await callApi(serve.url, "POST", "/orders", key, { service: key, link: 5 });
    await callApi(serve.url, "POST", "/orders", key, `{"x":"${key}`);
    await callApi(serve.url, "POST", "/recharge", key, { username: "cleo", amount: 1 });
    await callApi(serve.url, "POST", "/recharge", key, { username: key, amount: SECRET_NOTE });
    for (const path of ["/balance", `/orders/${key}`, `/user?username=${key}`, `/${key}`, "/%zz"]) {
      await callApi(serve.url, "GET", path, key);
    }
    await callApi(serve.url, "GET", "/services", null, undefined, { authorization: key });
  }
  const whileServing = placesWith(database, keys);
  const { exitCode, stdout, stderr } = await serve.stop();

  expect(exitCode).toBe(0);
  expect(database.balance("anna")).toBe(100_000_000 - 2 * 232_000);
  expect(whileServing).toEqual([]);
  expect(placesWith(database, keys)).toEqual([]);
  // The search finds what is there: the key's first characters are kept to recognise it by.
  expect(placesWith(database, [full.text.slice(0, 8)])).toEqual([
    ...(ENGINE === "sqlite" ? ["reseller.db"] : []),
    "keys",
    "audit",
  ]);
  const lines = stderr.trim().split("\n");
  expect(lines.filter((line) => JSON.parse(line).status !== undefined).length).toBe(4 * 11);
  for (const secret of [...keys, SECRET_NOTE]) expect(stdout + stderr).not.toContain(secret);
});
