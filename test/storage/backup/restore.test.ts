// A restore must not lose the writes of a command that runs at the same time; what must not stop it.

import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { BackupError } from "../../../src/storage/backup/backup-error.ts";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { restoreDatabase } from "../../../src/storage/backup/restore.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";

test("a command that writes to the database while it is replaced is not lost: nothing is restored", async () => {
  const shop = openShop();
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  const attempt = () =>
    restoreDatabase(file, shop.folder, { now: Date.now(), acceptsUnverified: false }, () =>
      shop.user("carol", "5"),
    );
  // oxlint-disable-next-line typescript/await-thenable -- it is one; its type says otherwise
  await expect(attempt()).rejects.toThrow(BackupError);
  expect(shop.balance("carol")).toBe(5_000_000);
  expect(readdirSync(shop.folder).filter((name) => name.includes("restor"))).toEqual([]);
  expect((await shop.cli("admin", "user", "show", "carol")).code).toBe(0);
});

test("a restore that takes back more money than the limit needs --yes without a terminal, and changes nothing", async () => {
  const shop = openShop();
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  shop.run("creditUser", { username: "bob", amountMicros: 50_000_000, note: null });
  shop.run("setDiscount", { username: "bob", discountPpm: 125_000 });
  shop.connection.sqlite.close();
  const restore = (...flags: string[]) =>
    reseller("restore", file, "--data", shop.folder, ...flags);
  const refused = await restore("--confirm-above", "49.99");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    "take back 50 USD in transactions that the backup does not have",
  );
  expect(readdirSync(shop.folder).filter((name) => name.includes("restor"))).toEqual([]);
  const show = () => shop.cli("admin", "user", "show", "bob", "--json");
  expect((await show()).json.balance).toBe(50);
  const restored = await restore("--confirm-above", "49.99", "--yes", "--json");
  expect(restored.code).toBe(0);
  // What goes back is named.
  expect(restored.json.changes).toContainEqual({
    subject: "user bob",
    since: "discount 12.5 %",
    now: "discount 0 %",
  });
  expect((await show()).json.balance).toBe(0);
});

test("limits that keys were given since the backup are gone, and named", async () => {
  const shop = openShop();
  const { id } = shop.key("bob", "recharge");
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  const changes = {
    allow: "10.0.0.0/8",
    rechargeLimitMicros: 5_000_000,
    rechargeDailyMicros: 10_000_000,
  };
  shop.run("updateKey", { id, changes });
  const later = shop.key("bob", "full").id;
  shop.connection.sqlite.close();
  const { json } = await reseller("restore", file, "--data", shop.folder, "--json");
  expect(json.changes).toContainEqual({
    subject: `key ${id} of bob`,
    since: "allow 10.0.0.0/8, rechargeLimit 5, rechargeDaily 10",
    now: "allow -, rechargeLimit -, rechargeDaily -",
  });
  // One that was made since is among the keys that are lost.
  expect(JSON.stringify(json.changes)).not.toContain(later);
});

test("a service's number that was given since the backup is given to no other service", async () => {
  const shop = openShop();
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  const create = async () => {
    const terms = ["--price", "1", "--min", "1", "--max", "2", "--json"];
    const { json } = await shop.cli("admin", "service", "create", "--name", "N", ...terms);
    return json.number as number;
  };
  const given = [await create(), await create()];
  shop.connection.sqlite.close();
  const { json } = await reseller("restore", file, "--data", shop.folder, "--json");
  expect(json.next.service).toBe(Math.max(...given) + 1);
  expect(await create()).toBe(json.next.service);
});

describe("what a damaged or foreign database holds does not keep a backup from replacing it:", () => {
  const DAMAGES: [what: string, sql: string, isUnknown: boolean][] = [
    ["an order number of 64 bits", "UPDATE orders SET order_id = 9223372036854775807", true],
    ["one near 2^53", "UPDATE orders SET order_id = 9007199254740990", true],
    ["text for a number", "UPDATE orders SET order_id = 'abc'", true],
    ["a balance of NULL", "UPDATE users SET balance_micros = NULL", false],
    ["text for a balance", "UPDATE users SET balance_micros = 'abc'", false],
    ["no time at all", "UPDATE orders SET created_at = 9223372036854775807", false],
    ["a key's end that is none", "UPDATE keys SET id = 'new', expires_at = 9e18", false],
  ];
  test.each(DAMAGES)("%s", async (_, damage, isUnknown) => {
    const shop = openShop();
    shop.order(10);
    const file = join(shop.folder, "copy.db");
    copyDatabase(shop.connection.path, file);
    const { path, sqlite } = shop.connection;
    sqlite.close();
    const replaced = new Database(path);
    for (const table of ["orders", "users", "keys"]) {
      // The same rows in a table that checks nothing.
      replaced.run("PRAGMA foreign_keys = OFF");
      replaced.run("PRAGMA legacy_alter_table = ON");
      replaced.run(`CREATE TABLE plain AS SELECT * FROM ${table}`);
      replaced.run(`DROP TABLE ${table}`);
      replaced.run(`ALTER TABLE plain RENAME TO ${table}`);
    }
    replaced.run(damage);
    replaced.close();
    const { code, stderr, json } = await reseller("restore", file, "--data", shop.folder, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(json.unknownBecause === null).toBe(!isUnknown);
    expect(json.next.orderId).toBe(isUnknown ? 1_000_002 : 2);
  });
});
