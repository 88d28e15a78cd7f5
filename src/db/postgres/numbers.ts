// The numbers of orders, transfers and other rows that the database counts up: a sequence for each table. They are taken
// behind the batch's locks, so that within an account they grow in the order of the commits; between accounts they need
// not, and a batch that is rolled back leaves a gap.

import { MARGIN, NUMBERED_TABLES, type Numbers, numbersBy } from "../number-floors.ts";
import type { Reader } from "../port.ts";
import { query } from "../query.ts";
import { type AnyTable, number } from "../table-definition.ts";
import type { Statement } from "./connection.ts";

/** The next `count` numbers of a table. */
export function numbersStatement({ name }: AnyTable, count: number): Statement {
  return {
    text: `SELECT nextval('${name}_number')::float8 AS number FROM generate_series(1, $1::int)`,
    values: [String(count)],
  };
}

const gives = Object.fromEntries(NUMBERED_TABLES.map((table) => [table, number])) as Record<
  keyof Numbers,
  typeof number
>;
const ofEach = (value: (table: string) => string) =>
  query({
    gives,
    text: `SELECT ${NUMBERED_TABLES.map((table) => `(${value(table)}) AS ${table}`).join()}`,
  });
const GIVEN = ofEach((table) => `SELECT last_value FROM ${table}_number`);
const ROWS = ofEach((table) => `SELECT count(*) FROM ${table}`);

/**
 * The numbers that the sequences have given, and those above any that may have been given since the moment to which the
 * database was put back.
 */
export function numbersAfterRestore(reader: Reader): { given: Numbers; floors: Numbers } {
  const given = reader.one(GIVEN)!;
  const rows = reader.one(ROWS)!;
  return { given, floors: numbersBy((table) => given[table] + Math.max(MARGIN, rows[table])) };
}
