// The totals of a restore at the largest balances there can be.

import { expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import { AMOUNT_LIMIT_MICROS } from "../../../src/domain/ledger/money.ts";
import { reseller } from "../../support/worlds/shop.ts";
import { freshFolder } from "../../support/folders.ts";
import { freshSqliteDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

/** Deposits as `credits` of 1,000,000,000 USD each make them, with the balance as if none was spent; straight SQL. */
function depositInBulk(database: TestDatabase, username: string, credits: number): void {
  const { sqlite } = database.connection;
  const { account } = database.read((reader) => findUser(reader, username))!;
  const amount = AMOUNT_LIMIT_MICROS;
  sqlite.run(`INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, operator, created_at,
      balance_after_micros)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${credits})
    SELECT 1, ${account}, ${amount}, 'adjustment', 'x', 1, n * ${amount} FROM numbers`);
  sqlite.run(`UPDATE users SET balance_micros = ${credits} * ${amount}, deposited_micros = ${credits} * ${amount}
    WHERE account = ${account}`);
}

test("a restore adds up balances whose sum passes 64 bits", async () => {
  const database = freshSqliteDatabase();
  database.user("rich");
  database.user("other");
  depositInBulk(database, "rich", 9000);
  depositInBulk(database, "other", 9000);
  const copy = `${freshFolder()}/copy.db`;
  database.connection.sqlite.query("VACUUM INTO ?").run(copy);
  const restored = await reseller("restore", copy, "--data", freshFolder(), "--json");
  expect([restored.code, restored.stderr]).toEqual([0, expect.anything()]);
  expect(restored.stdout).toContain('"balance":18000000000000,');
});
