// A database like after years of use, written in seconds by SQL; its ledger adds up.

import type { Database } from "bun:sqlite";
import { recordAllClockSteps } from "../../../src/db/sqlite/clock-steps.ts";
import { CASH_ACCOUNT, SALES_ACCOUNT } from "../../../src/domain/ledger/ledger.ts";
import type { TestDatabase } from "./test-database.ts";

const SERVICE = "bulk";
/** 10 per 1000, so that an order of 100 costs 1 USD. */
const QUANTITY = 100;
const CHARGE_MICROS = 1_000_000;
const CREDIT_MICROS = 1_500_000;
/** Every so many orders one is cancelled, with its refund and its event. */
const CANCELLED_EVERY = 10;

/**
 * As many recharges as orders, one reseller after the other, and `linkBytes` in each order's link.
 * `time`: SQL for the time of order and recharge number `n`. `resellers`: how many share the orders.
 */
export function fillInBulk(
  database: TestDatabase,
  orders: number,
  linkBytes = 20,
  time = "n",
  resellers = 1000,
): void {
  const { sqlite } = database.connection;
  for (let index = 0; index < resellers; index++) database.user(`bulk${index}`);
  const { id: keyId } = database.key("bulk0", "full");
  database.service({ id: SERVICE, price: "10" });
  const { first } = sqlite
    .query("SELECT min(account) AS first FROM users WHERE username LIKE 'bulk%'")
    .get() as { first: number };
  const reseller = (from: string) => `${first} + ${from} % ${resellers}`;
  const cancelled = `(n % ${CANCELLED_EVERY} = 0)`;
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${orders})`;
  sqlite.run("BEGIN IMMEDIATE");
  sqlite.run(`INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, key_id, created_at)
    ${numbers} SELECT ${CASH_ACCOUNT}, ${reseller("n")}, ${CREDIT_MICROS}, 'recharge', '${keyId}', ${time} FROM numbers`);
  sqlite.run(`INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link,
      quantity, charge_micros, refunded_micros, status, remains, created_at)
    ${numbers} SELECT n, printf('%024d', n), ${reseller("n")}, '${SERVICE}', 'Followers', 10000000, '1000',
      printf('%0${linkBytes}d', n), ${QUANTITY}, ${CHARGE_MICROS}, ${cancelled} * ${CHARGE_MICROS},
      iif(${cancelled}, 'CANCELLED', 'PROCESSING'), ${QUANTITY}, ${time} FROM numbers`);
  sqlite.run(`INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, key_id, created_at)
    SELECT reseller_account, ${SALES_ACCOUNT}, charge_micros, 'order', order_id, '${keyId}', created_at FROM orders`);
  sqlite.run(`INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, created_at)
    SELECT ${SALES_ACCOUNT}, reseller_account, charge_micros, 'refund', order_id, created_at
    FROM orders WHERE status = 'CANCELLED'`);
  sqlite.run(`INSERT INTO order_events (order_id, from_status, to_status, operator, created_at)
    SELECT order_id, 'PROCESSING', 'CANCELLED', 'tester', created_at FROM orders WHERE status = 'CANCELLED'`);
  sqlite.run(`UPDATE users SET deposited_micros =
    (SELECT coalesce(sum(amount_micros), 0) FROM transfers
     WHERE credit_account = account AND credit_account > 2 AND kind = 'recharge'), balance_micros =
    (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE credit_account = account AND credit_account > 2)
    - (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE debit_account = account AND debit_account > 2)
    WHERE username LIKE 'bulk%'`);
  recountBalancesAfter(sqlite);
  recordAllClockSteps(sqlite);
  sqlite.run("COMMIT");
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** The balance after each transfer, as the ledger adds up: of rows that SQL wrote. */
export function recountBalancesAfter(sqlite: Database): void {
  const trigger = "transfers_append_only_update";
  const { sql } = sqlite.query("SELECT sql FROM sqlite_schema WHERE name = ?").get(trigger) as {
    sql: string;
  };
  sqlite.run(`DROP TRIGGER ${trigger}`);
  sqlite.run(`UPDATE transfers SET balance_after_micros = total FROM (
    SELECT seq AS transfer, sum(iif(credit_account > 2, amount_micros, -amount_micros))
      OVER (PARTITION BY max(debit_account, credit_account) ORDER BY seq) AS total FROM transfers
    ) WHERE seq = transfer`);
  sqlite.run(sql);
}
