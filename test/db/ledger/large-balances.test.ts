// Migration 8 rebuilds users and transfers, so that a refund can raise a balance above 2^53.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";
import { databasePath } from "../../../src/storage/file/open.ts";
import { listUsers } from "../../../src/db/users/users.ts";
import { verify } from "../../../src/storage/doctor/verify.ts";
import { freshDatabase, freshFolder, OPERATOR } from "../../support/service.ts";

const BEFORE = MIGRATIONS.filter(({ version }) => version < 8);
const SINCE = MIGRATIONS.filter(({ version }) => version >= 8);
const RICH = 3;

/**
 * rich has 9,000,000,000 USD, was debited 1 USD, and has an order of 10,000,000 USD whose placement is unknown: since
 * the refund passes 2^53 micros, nobody could settle it. kid is its child user.
 */
function fill(sqlite: Database): void {
  sqlite.run("PRAGMA foreign_keys = OFF");
  const deposits = Array.from({ length: 9 }, (_, index) => [
    `(1, 3, 1000000000000000, 'recharge', NULL, 'k', NULL, ${(index + 1) * 1e15})`,
  ]);
  sqlite.run(`
    INSERT INTO accounts VALUES (3, 'user'), (4, 'user');
    INSERT INTO users (account, id, username, name, parent_account, balance_micros, created_at) VALUES
      (3, '${"u".repeat(24)}', 'rich', 'Rich', NULL, 9000000000000000, 1),
      (4, '${"v".repeat(24)}', 'kid', 'Kid', 3, 5, 2);
    INSERT INTO keys (id, reseller_account, hash, start, type, reach, label, active, created_at)
      VALUES ('${"k".repeat(24)}', 3, '${"0".repeat(64)}', 'rk_', 'full', 'all', '', 1, 1);
    INSERT INTO providers (name, protocol, url, key, created_at)
      VALUES ('acme', 'smm-api', 'http://127.0.0.1', 'x', 1);
    INSERT INTO services (id, name, price_micros, per, min, max, active, private, created_at, provider_id, provider_service)
      VALUES ('s', 'S', 10000000000000, 'order', 1, 10, 1, 0, 1, 1, '7');
    INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
      charge_micros, status, remains, created_at, provider_id, provider_service, placement)
      VALUES (1, '${"o".repeat(24)}', 3, 's', 'S', 10000000000000, 'order', 'x', 1, 10000000000000, 'PENDING', 1, 1,
        1, '7', 'unknown');
    INSERT INTO placement_attempts (order_id, outcome, started_at, finished_at) VALUES (1, 'unknown', 1, 2);
    INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, key_id, operator,
      balance_after_micros, created_at)
    SELECT column1, column2, column3, column4, column5, iif(column6 IS NULL, NULL, '${"k".repeat(24)}'), column7, column8, 1
    FROM (VALUES ${deposits.join()},
      (3, 1, 1000000, 'adjustment', NULL, NULL, 'x', 8999999999000000),
      (3, 2, 10000000000000, 'order', 1, 'k', NULL, 8989999999000000),
      (1, 3, 10000001000000, 'adjustment', NULL, NULL, 'x', 9000000000000000),
      (1, 4, 5, 'recharge', NULL, 'k', NULL, 5))`);
}

function oldDatabase(): { folder: string; sqlite: Database } {
  const folder = freshFolder();
  const sqlite = new Database(databasePath(folder), { readwrite: true, create: true });
  migrate(sqlite, BEFORE, 1);
  fill(sqlite);
  return { folder, sqlite };
}

test("an order that was stuck because its refund passes 2^53 is settled after the upgrade", async () => {
  const { folder, sqlite } = oldDatabase();
  expect(() => sqlite.run("UPDATE users SET balance_micros = 9010000000000000")).toThrow("CHECK");
  sqlite.close();
  const database = freshDatabase(folder);
  expect((await verify(database.connection)).problems).toEqual([]);
  const settled = database.run("settleOrder", { id: "1", providerOrder: null, actor: OPERATOR });
  expect(settled).toMatchObject({ status: "FAILED", refundedMicros: 1e13 });
  expect(
    listUsers(database.connection.store.reader).map(({ balanceMicros }) => balanceMicros),
  ).toEqual([9_010_000_000_000_000n, 5n]);
  expect((await verify(database.connection)).problems).toEqual([]);
});

test("rows, foreign keys and triggers survive the migration", () => {
  const { sqlite } = oldDatabase();
  const rowsOf = () =>
    ["users", "keys", "transfers"].map((table) =>
      sqlite.query(`SELECT * FROM ${table}`).all(),
    ) as Record<string, unknown>[][];
  const guardsOf = () =>
    sqlite
      .query("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'table' ORDER BY type, name")
      .all();
  const rows = rowsOf();
  const guards = guardsOf();
  migrate(sqlite, SINCE.slice(0, 1), 2);
  const withDeposits = rows[0]!.map((user) => ({
    ...user,
    deposited_micros: user["account"] === RICH ? 9_010_000_000_000_000 : 5,
  }));
  expect(rowsOf()).toEqual([withDeposits, rows[1]!, rows[2]!]);
  expect(guardsOf()).toEqual(guards);
  expect(sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(sqlite.query("PRAGMA foreign_key_check").values()).toEqual([]);
});
