// Floors for new numbers: numbers up to a floor are never issued again, because callers know those that were issued
// since a backup. A gap is harmless, a number issued twice is not. On SQLite a floor is a row of number_floors
// (AUTOINCREMENT would cost every order and transfer a write of its own table); on PostgreSQL it is the value of a
// sequence.

import type { Tx } from "../port/port.ts";
import { statement } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { numberFloors } from "../tables/database.ts";

/** Tables whose numbers are visible to callers and operators. */
export const NUMBERED_TABLES = [
  "orders",
  "transfers",
  "audit",
  "services",
  "order_requests",
  "service_changes",
] as const;

export type NumberedTable = (typeof NUMBERED_TABLES)[number];
export type Numbers = Record<NumberedTable, number>;

/** Least count of numbers to skip when it is unknown which numbers were issued after a backup. */
export const MARGIN = 1_000_000;

export function numbersBy(number: (table: NumberedTable) => number): Numbers {
  return Object.fromEntries(NUMBERED_TABLES.map((table) => [table, number(table)])) as Numbers;
}

const RAISE = statement({
  parameters: Object.fromEntries(NUMBERED_TABLES.map((table) => [table, number])) as Record<
    NumberedTable,
    typeof number
  >,
  writes: [numberFloors],
  text: {
    sqlite: `INSERT INTO number_floors (table_name, floor)
      VALUES ${NUMBERED_TABLES.map((table) => `('${table}', :${table})`).join()}
      ON CONFLICT (table_name) DO UPDATE SET floor = max(floor, excluded.floor)`,
    // A rollback does not undo setval, but repeating it has the same result.
    postgres: `SELECT ${NUMBERED_TABLES.map(
      (table) =>
        `setval('${table}_number', greatest(:${table}, (SELECT last_value FROM ${table}_number)))`,
    ).join()}`,
  },
});

/** Makes new numbers continue above `numbers`. On PostgreSQL no server may run. */
export function raiseFloors(tx: Tx, numbers: Numbers): void {
  tx.run(RAISE, numbers);
}

const RESERVE = statement({
  parameters: { orders: number, services: number },
  writes: [numberFloors],
  text: {
    sqlite: `INSERT INTO number_floors (table_name, floor) VALUES ('orders', :orders), ('services', :services)
      ON CONFLICT (table_name) DO UPDATE SET floor = max(floor, excluded.floor)`,
    postgres: "SELECT reserve_numbers(:orders, :services)",
  },
});

/**
 * Makes new orders and services get numbers above these, while servers run. Until the transaction ends, nobody else
 * takes a number. Whoever took one before has committed when this returns.
 */
export function reserveNumbers(tx: Tx, numbers: { orders: number; services: number }): void {
  tx.run(RESERVE, numbers);
}
