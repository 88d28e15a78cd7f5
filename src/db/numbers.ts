// Numbers that were given to callers and operators: of orders, transfers and audit entries. They only grow, also across
// a restore, which takes rows back but not what callers were told of them.

import type { Database } from "bun:sqlite";
import { sql } from "drizzle-orm";
import { prepared, type Tx } from "./connection.ts";
import { numberFloors } from "./schema.ts";

/** The column that numbers the rows of a table. */
export const NUMBERED = { orders: "order_id", transfers: "seq", audit: "seq" } as const;
export type NumberedTable = keyof typeof NUMBERED;
/** For each table: the highest number that was given out. */
export type Numbers = Record<NumberedTable, number>;

export const NUMBERED_TABLES = Object.keys(NUMBERED) as NumberedTable[];

/** How many numbers at least are passed over where nobody knows which were given out since a backup. */
const MARGIN = 1_000_000;

/** Nobody gives out so many: as many again are left above it before a double, or a floor, ends. */
const PLAUSIBLE_LIMIT = 2 ** 52;

/** Whether highestNumber read a number that a service can have given out. */
export function isPlausible(number: number): boolean {
  return Number.isSafeInteger(number) && number <= PLAUSIBLE_LIMIT;
}

/** Of a database of any version, floor included; 0 without the table. Of a damaged or foreign one it may be anything. */
export function highestNumber(sqlite: Database, table: NumberedTable): number {
  const isThere = sqlite.query<unknown, [string]>("SELECT 1 FROM sqlite_schema WHERE name = ?");
  if (!isThere.get(table)) return 0;
  const highest = `SELECT max(${NUMBERED[table]}) AS number FROM ${table}`;
  const floor = `SELECT floor FROM number_floors WHERE table_name = '${table}'`;
  return numberIn(sqlite, isThere.get("number_floors") ? `${highest} UNION ALL ${floor}` : highest);
}

/** As many as a database has rows, and at least a million: more than were given out since a backup of it. */
export function margins(sqlite: Database): Numbers {
  return numbersBy((table) =>
    Math.max(MARGIN, numberIn(sqlite, `SELECT count(*) AS number FROM ${table}`)),
  );
}

export function numbersBy(number: (table: NumberedTable) => number): Numbers {
  return { orders: number("orders"), transfers: number("transfers"), audit: number("audit") };
}

/** The greatest of a query's numbers; 0 without any. */
function numberIn(sqlite: Database, query: string): number {
  const [[number]] = sqlite.query(`SELECT max(number) FROM (${query})`).values() as [
    [number | null],
  ];
  return number ?? 0;
}

/**
 * SQL for the number of the next row: NULL, for which SQLite counts on from the highest, unless the floor lies above
 * that. Evaluated at each INSERT, so that one that is rolled back changes nothing.
 */
export function nextNumber(table: NumberedTable): string {
  return `(SELECT floor + 1 FROM number_floors WHERE table_name = '${table}'
    AND floor > (SELECT coalesce(max(${NUMBERED[table]}), 0) FROM ${table}))`;
}

/** The same for a statement that is run often; null where the floor was passed before it is prepared. */
export function preparedNumber(sqlite: Database, table: NumberedTable): string | null {
  const [[number]] = sqlite.query(`SELECT ${nextNumber(table)}`).values() as [[number | null]];
  return number === null ? null : nextNumber(table);
}

/** The numbers of `table` go on above `floor`. Only in a database that nobody uses yet: prepared statements miss it. */
export function raiseFloor(tx: Tx, table: NumberedTable, floor: number): void {
  queries(tx).raise.run({ table, floor });
}

const queries = prepared((orm) => ({
  raise: orm
    .insert(numberFloors)
    .values({ tableName: sql.placeholder("table"), floor: sql.placeholder("floor") })
    .onConflictDoUpdate({
      target: numberFloors.tableName,
      set: { floor: sql`max(floor, excluded.floor)` },
    })
    .prepare(),
}));
