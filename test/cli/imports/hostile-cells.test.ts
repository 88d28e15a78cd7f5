// Every field of every table of another panel with every hostile value: its row is imported or refused, never an error of
// the program, and the ledger adds up.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PANEL_FIELDS, PANEL_TABLES, type PanelTable } from "../../../src/imports/panel/map.ts";
import { sampledOnPostgres } from "../../support/databases/engine-samples.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { freshFolder } from "../../support/folders.ts";
import { OLD_PANEL_MAP } from "../../support/seeds/old-panel.ts";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";

const VALUES = {
  nothing: "",
  NUL: "a\0b",
  "a change of direction": "a\u202Eb",
  "a line break": "a\nb",
  "half of a pair": "a\uFFFDb",
  emoji: "😀",
  "5,000 characters": "x".repeat(5000),
  "5,000 digits": "9".repeat(5000),
  "a huge number": "999999999999999",
  zero: "0",
  negative: "-1",
  fraction: "0.0000001",
  exponent: "1e9",
  infinity: "Infinity",
  "a formula": "=1+1",
  markup: "<b>'\"`;--",
  "a word of JavaScript": "__proto__",
};

let database: TestDatabase;
let number = 100;
beforeAll(() => {
  database = freshDatabase();
  const url = "http://127.0.0.1:9/";
  database.run("createProvider", { name: "upstream", protocol: "smm-api", url, key: "k" });
});
afterAll(async () => {
  expect(await verifyStore(database)).toEqual([]);
  database.close();
});

/** A row of each table that is right: a user, its service, its open order at a provider and its key. */
function rowsOf(id: number): Record<PanelTable, Record<string, string>> {
  const key = new Bun.CryptoHasher("md5").update(`key ${id}`).digest("hex");
  return {
    users: { id: `${id}`, username: `user${id}`, name: "N", email: `u${id}@example.com`, balance: "1.5", discount: "5", active: "1" },
    services: { number: `${id}`, name: "S", category: "C", price: "1", min: "1", max: "9", type: "Default", dripfeed: "0", cancel: "1", refill: "1", active: "1", provider: "3", providerService: "7" },
    orders: { number: `${id}`, user: `${id}`, service: `${id}`, link: "https://example.com/a", quantity: "5", charge: "0.5", status: "pending", startCount: "1", remains: "2", createdAt: "2025-01-01", provider: "3", providerService: "7", providerOrder: `${id}` },
    keys: { user: `${id}`, key, label: "L" },
  }; // prettier-ignore
}

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

const CASES = PANEL_TABLES.flatMap((table) =>
  PANEL_FIELDS[table].flatMap((field) =>
    Object.entries(VALUES).map(([name, value]) => [table, field, name, value] as const),
  ),
);

test.each(sampledOnPostgres(CASES, 4))("%s: %s is %s", async (table, field, _, value) => {
  number += 1;
  const rows = rowsOf(number);
  rows[table][field] = value;
  const folder = freshFolder();
  const files = PANEL_TABLES.flatMap((each) => {
    const path = join(folder, `${each}.csv`);
    const { [each]: row } = rows;
    writeFileSync(path, `${Object.keys(row).join()}\n${Object.values(row).map(cell).join()}\n`);
    return [`--${each}`, path];
  });
  const map = join(folder, "map.toml");
  writeFileSync(map, OLD_PANEL_MAP);
  const flags = ["--map", map, "--yes", "--json", "--skip-refused", ...optionsOf(database)];
  const { code, stderr } = await reseller("admin", "import", "panel", ...files, ...flags);
  expect([code, stderr]).toEqual([0, ""]);
});
