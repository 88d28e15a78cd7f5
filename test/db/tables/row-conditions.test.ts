// The conditions of orders and transfers on SQLite, which are written so that they cost little, refuse exactly what breaks
// a rule.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { PLACEMENTS } from "../../../src/domain/delivery/deliveries.ts";
import { TRANSFER_KINDS } from "../../../src/domain/ledger/ledger.ts";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";
import { emptyMemoryDatabase } from "../../support/databases/sqlite-template.ts";

type Value = string | number | null;
type Values = Record<string, Value>;

/** Every row that takes one value of each list. */
function combinations(lists: Record<string, Value[]>): Values[] {
  return Object.entries(lists).reduce<Values[]>(
    (rows, [column, values]) =>
      rows.flatMap((row) => values.map((value) => ({ ...row, [column]: value }))),
    [{}],
  );
}

const UNKNOWN_WORD = "odd";

const ORDERS = combinations({
  id: ["o".repeat(24)],
  reseller_account: [3],
  service_id: ["s"],
  service_name: ["s"],
  price_micros: [1],
  link: ["x"],
  quantity: [10],
  remains: [10],
  charge_micros: [5],
  created_at: [1],
  refunded_micros: [0, 2, 5],
  status: [...ORDER_STATUSES, UNKNOWN_WORD],
  placement: [...PLACEMENTS, UNKNOWN_WORD],
  provider_id: [null, 1],
  provider_service: [null, "1"],
  provider_order: [null, "1"],
  polled_at: [null, 1],
  changed_at: [null, 1],
  next_submit_at: [null, 1],
  next_poll_at: [null, 1],
  per: ["1000", UNKNOWN_WORD],
});

function isOrder(row: Values): boolean {
  const { status, placement, refunded_micros: refunded, charge_micros: charge } = row;
  const is = (value: Value | undefined, ...words: string[]) => words.includes(value as string);
  const has = (column: string) => row[column] !== null;
  const isPlaced = placement === "placed";
  return [
    !Object.values(row).includes(UNKNOWN_WORD),
    has("provider_id") === (placement !== "manual"),
    has("provider_service") === has("provider_id"),
    status !== "PENDING" || is(placement, "queued", "sending", "unknown"),
    placement !== "sending" || status === "PENDING",
    !is(placement, "queued", "unknown") || is(status, "PENDING", "CANCELLED"),
    !is(placement, "refused", "expired") || status === "FAILED",
    ["provider_order", "polled_at", "changed_at"].every((column) => has(column) === isPlaced),
    has("next_submit_at") === (placement === "queued" && status === "PENDING"),
    isPlaced || !has("next_poll_at"),
    !isPlaced || status !== "PROCESSING" || has("next_poll_at"),
    !is(status, "FAILED", "CANCELLED", "REFUNDED") || refunded === charge,
    !is(status, "PENDING", "PROCESSING", "COMPLETED") || refunded === 0,
  ].every(Boolean);
}

const TRANSFERS = combinations({
  debit_account: [1, 3],
  credit_account: [1, 3],
  amount_micros: [0, 1],
  kind: [...TRANSFER_KINDS, UNKNOWN_WORD],
  order_id: [null, 1],
  key_id: [null, "k"],
  operator: [null, "o"],
  created_at: [1],
  balance_after_micros: [-1, 0],
});

function isTransfer(row: Values): boolean {
  const isOfOrder = ["order", "partial_refund", "refund"].includes(row["kind"] as string);
  return [
    row["kind"] !== UNKNOWN_WORD,
    row["debit_account"] !== row["credit_account"],
    row["amount_micros"] === 1,
    row["balance_after_micros"] === 0,
    isOfOrder === (row["order_id"] !== null),
    row["key_id"] === null || row["operator"] === null,
  ].every(Boolean);
}

test.each([
  ["orders", ORDERS, isOrder],
  ["transfers", TRANSFERS, isTransfer],
] as const)("a row of %s is taken if and only if it follows every rule", (table, rows, isRight) => {
  const sqlite = emptyMemoryDatabase();
  sqlite.run("PRAGMA foreign_keys = OFF");
  const expected = rows.filter(isRight);
  expect(expected.length).toBeGreaterThan(3);
  expect(rows.filter((row) => isTaken(sqlite, table, row))).toEqual(expected);
});

/** Whether the table takes the row, without the others. */
function isTaken(sqlite: Database, table: string, row: Values): boolean {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join();
  const insert = `INSERT INTO ${table} (${columns.join()}) VALUES (${marks})`;
  sqlite.run("BEGIN");
  try {
    sqlite.query<null, Value[]>(insert).run(...Object.values(row));
    return true;
  } catch {
    return false;
  } finally {
    sqlite.run("ROLLBACK");
  }
}
