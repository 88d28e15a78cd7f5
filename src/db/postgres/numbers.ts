// The numbers of orders, transfers and other rows that the database counts up: a sequence for each table. They are taken
// behind the batch's locks, so that within an account they grow in the order of the commits; between accounts they need
// not, and a batch that is rolled back leaves a gap.

import { MARGIN, NUMBERED_TABLES, type Numbers, numbersBy } from "../number-floors.ts";
import type { Reader } from "../port.ts";
import { query } from "../query.ts";
import { type AnyTable, number } from "../table-definition.ts";
import type { Rows, Statement } from "./connection.ts";
import { arrayOf } from "./text.ts";

/** One row for each sequence, its numbers as one text: hundreds of rows cost more than the numbers in them. */
const NUMBERS = `SELECT (
    SELECT string_agg(number::text, ',')
    FROM (SELECT nextval(wanted.sequence) AS number FROM generate_series(1, wanted.count)) AS taken
  ) AS numbers
  FROM unnest($1::regclass[], $2::int[]) WITH ORDINALITY AS wanted (sequence, count, place) ORDER BY wanted.place`;

/** The next numbers of each table, so many as are wanted. */
export function numbersStatement(wanted: ReadonlyMap<AnyTable, number>): Statement {
  const sequences = [...wanted.keys()].map(({ name }) => `${name}_number`);
  return { text: NUMBERS, values: [arrayOf(sequences), arrayOf([...wanted.values()])] };
}

/** In the order of the tables. */
export function numbersIn(rows: Rows): number[][] {
  return (rows as unknown as { numbers: string | null }[]).map(({ numbers }) =>
    numbers === null ? [] : numbers.split(",").map(Number),
  );
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
