// Invoices across a restore: no number is given twice, none is missing, and no credit is invoiced twice.

import { join } from "node:path";
import { rmSync } from "node:fs";
import { expect, test } from "bun:test";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { openShop, reseller, type Shop } from "../../support/worlds/shop.ts";

/** A shop that issues an invoice for each credit, and its command line. */
function openInvoicing() {
  const shop = openShop({ engine: "sqlite" });
  const changes = { mode: "credit", sellerName: "s", sellerAddress: "a", prefix: "A-" } as const;
  shop.run("setInvoicing", { changes });
  return shop;
}

const credit = (shop: Shop, username: string, amount: string, ...flags: string[]) =>
  shop.cli("admin", "user", "credit", username, amount, ...flags);
const issue = async (shop: Shop) =>
  (await shop.cli("admin", "invoice", "issue", "--json")).json.issued as number;
const list = async (shop: Shop) => {
  const { json } = await shop.cli("admin", "invoice", "export", "--json");
  return json
    .toReversed()
    .map(({ number, username, total, carriedOver }: Record<string, unknown>) => [
      number,
      username,
      total,
      carriedOver,
    ]);
};
const backUp = (shop: Shop) => {
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  return file;
};
const loseDatabase = ({ folder }: Shop) => {
  for (const end of ["", "-wal", "-shm"])
    rmSync(join(folder, `reseller.db${end}`), { force: true });
};
const restore = (shop: Shop, file: string) =>
  reseller("restore", file, "--data", shop.folder, "--yes", "--json");
const verified = async (shop: Shop) =>
  expect((await reseller("verify", "--data", shop.folder, "--json")).json).toMatchObject({
    ok: true,
  });

test("invoices issued since the backup are kept with their numbers, and the next goes on", async () => {
  const shop = openInvoicing();
  await credit(shop, "alice", "1");
  await issue(shop);
  await credit(shop, "bob", "2");
  const file = backUp(shop);
  await issue(shop);
  await credit(shop, "alice", "3");
  shop.user("later");
  await credit(shop, "later", "4");
  await issue(shop);
  await shop.cli("admin", "invoice", "correct", "A-1", "--reason", "wrong");
  shop.connection.sqlite.close();
  const restored = await restore(shop, file);
  expect([restored.code, restored.json.invoices]).toEqual([0, { invoices: 4, series: null }]);
  // The credit that the backup has was invoiced since.
  expect(await issue(shop)).toBe(0);
  await credit(shop, "bob", "5");
  expect(await issue(shop)).toBe(1);
  expect(await list(shop)).toEqual([
    ["A-1", "alice", 1, false],
    ["A-2", "bob", 2, true],
    ["A-3", "alice", 3, true],
    ["A-4", null, 4, true],
    ["A-5", "alice", -1, true],
    ["A-6", "bob", 5, false],
  ]);
  await verified(shop);
});

test("a series that was begun since the backup is kept, and the backup's own goes on after its last number", async () => {
  const shop = openInvoicing();
  await credit(shop, "alice", "1");
  await issue(shop);
  const file = backUp(shop);
  await credit(shop, "alice", "2");
  await issue(shop);
  await shop.cli("admin", "invoice", "settings", "--prefix", "B-", "--next-number", "100");
  await credit(shop, "alice", "3");
  await issue(shop);
  shop.connection.sqlite.close();
  await restore(shop, file);
  await credit(shop, "bob", "4");
  await issue(shop);
  const numbers = (await list(shop)).map(([number]: [string]) => number);
  expect(numbers).toEqual(["A-1", "A-2", "B-100", "A-3"]);
  await verified(shop);
});

test("if it is not known what was issued, a new series begins, also again", async () => {
  const shop = openInvoicing();
  await credit(shop, "alice", "1");
  await issue(shop);
  const file = backUp(shop);
  await credit(shop, "alice", "2");
  await issue(shop);
  shop.connection.sqlite.close();
  let series = "";
  for (let times = 0; times < 2; times += 1) {
    loseDatabase(shop);
    const restored = await restore(shop, file);
    expect([restored.code, restored.told]).toEqual([0, restored.stderr]);
    const { invoices } = restored.json;
    expect(invoices).toEqual({ invoices: 0, series: expect.stringMatching(/^A-R\d{12}-$/) });
    series = invoices.series;
  }
  await credit(shop, "alice", "3");
  await issue(shop);
  expect((await list(shop)).map(([number]: [string]) => number)).toEqual(["A-1", `${series}1`]);
  await verified(shop);
});

test("without invoices a restore says nothing about them", async () => {
  const shop = openShop({ engine: "sqlite" });
  const file = backUp(shop);
  shop.connection.sqlite.close();
  loseDatabase(shop);
  expect((await restore(shop, file)).json.invoices).toEqual({ invoices: 0, series: null });
});
