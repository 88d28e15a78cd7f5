// The numbers of orders, transfers, audit entries, services and requests, which callers and operators know. They only
// grow, even across a restore: a number that was issued after the backup must not be issued again.

import type { Database } from "bun:sqlite";
import { MARGIN, type NumberedTable, type Numbers, numbersBy } from "../ledger/number-floors.ts";

/** The column that numbers the rows of a table, by table. */
export const NUMBERED: Readonly<Record<NumberedTable, string>> = {
  orders: "order_id",
  transfers: "seq",
  audit: "seq",
  services: "number",
  order_requests: "request_id",
  service_changes: "seq",
};

/** Limit for plausible numbers: far above any that a server issues. It is half of 2^53: the other half stays free. */
const ISSUED_NUMBER_LIMIT = 2 ** 52;

/** Returns whether a number from highestNumber is plausible. */
export function canBeIssued(number: number): boolean {
  return Number.isSafeInteger(number) && number <= ISSUED_NUMBER_LIMIT;
}

/**
 * Returns the highest issued number, or the floor if that is higher. A damaged or foreign database may hold any value.
 */
export function highestNumber(sqlite: Database, table: NumberedTable): number {
  return numberIn(
    sqlite,
    `SELECT max(${NUMBERED[table]}) AS number FROM ${table}
    UNION ALL SELECT floor FROM number_floors WHERE table_name = '${table}'`,
  );
}

/** Returns how many numbers to skip for each table: as many as it has rows, and at least MARGIN. */
export function margins(sqlite: Database): Numbers {
  return numbersBy((table) =>
    Math.max(MARGIN, numberIn(sqlite, `SELECT count(*) AS number FROM ${table}`)),
  );
}

/** Returns the greatest number in the result of a query; 0 without rows. */
function numberIn(sqlite: Database, query: string): number {
  const [[number]] = sqlite.query(`SELECT max(number) FROM (${query})`).values() as [
    [number | null],
  ];
  return number ?? 0;
}

/**
 * Returns SQL for the number of the next row: the floor plus 1 while the floor is above all numbers, otherwise NULL,
 * for which SQLite takes the highest number plus 1. The SQL is evaluated at each INSERT, so an INSERT that is rolled
 * back has no effect.
 */
export function nextNumber(table: NumberedTable): string {
  return `(SELECT floor + 1 FROM number_floors WHERE table_name = '${table}'
    AND floor > (SELECT coalesce(max(${NUMBERED[table]}), 0) FROM ${table}))`;
}

/**
 * Returns nextNumber's SQL for a prepared statement, or null if the numbers have passed the floor and plain NULL will
 * do.
 */
export function preparedNumber(sqlite: Database, table: NumberedTable): string | null {
  const [[number]] = sqlite.query(`SELECT ${nextNumber(table)}`).values() as [[number | null]];
  return number === null ? null : nextNumber(table);
}
