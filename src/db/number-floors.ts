// Floors below which no number is issued again: rows on SQLite, sequences on PostgreSQL.

import type { Tx } from "./port.ts";
import { statement } from "./query.ts";
import { number } from "./table-definition.ts";
import { numberFloors } from "./tables.ts";

/** Tables whose numbers callers and operators know. */
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

/** How many numbers are skipped at least, when it is not known which were issued since a backup. */
export const MARGIN = 1_000_000;

export function numbersBy(number: (table: NumberedTable) => number): Numbers {
  return Object.fromEntries(NUMBERED_TABLES.map((table) => [table, number(table)])) as Numbers;
}

const RAISE = statement({
  takes: Object.fromEntries(NUMBERED_TABLES.map((table) => [table, number])) as Record<
    NumberedTable,
    typeof number
  >,
  writes: [numberFloors],
  text: {
    sqlite: `INSERT INTO number_floors (table_name, floor)
      VALUES ${NUMBERED_TABLES.map((table) => `('${table}', :${table})`).join()}
      ON CONFLICT (table_name) DO UPDATE SET floor = max(floor, excluded.floor)`,
    // Not undone by a rollback, and as good the second time.
    postgres: `SELECT ${NUMBERED_TABLES.map(
      (table) =>
        `setval('${table}_number', greatest(:${table}, (SELECT last_value FROM ${table}_number)))`,
    ).join()}`,
  },
});

/** Numbers continue above these. Only before the database is in use: prepared statements of SQLite ignore it. */
export function raiseFloors(tx: Tx, numbers: Numbers): void {
  tx.run(RAISE, numbers);
}
