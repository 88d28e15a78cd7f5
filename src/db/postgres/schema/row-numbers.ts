// The numbers of orders, transfers and other numbered rows: one sequence for each table. Numbers are taken under the
// batch's locks, so within an account they grow in the order of commits. Across accounts the order may differ. A batch
// that is rolled back leaves a gap.

import { MARGIN, NUMBERED_TABLES, type Numbers, numbersBy } from "../../ledger/number-floors.ts";
import type { Reader } from "../../port/port.ts";
import { query } from "../../port/query.ts";
import { type AnyTable, number } from "../../port/table-definition.ts";
import type { Rows, Statement } from "../connection/connection.ts";
import { arrayOf } from "../batch/text.ts";

/**
 * SQL for new numbers. It returns one row for each sequence, with the numbers joined into one text, because hundreds of
 * rows would cost more than their numbers.
 */
const NEXT_NUMBERS = `SELECT (
    SELECT string_agg(number::text, ',')
    FROM (SELECT nextval(wanted.sequence) AS number FROM generate_series(1, wanted.count)) AS taken
  ) AS numbers
  FROM unnest($1::regclass[], $2::int[]) WITH ORDINALITY AS wanted (sequence, count, place) ORDER BY wanted.place`;

/** Builds the statement that takes the wanted count of numbers for each table. */
export function numbersStatement(counts: ReadonlyMap<AnyTable, number>): Statement {
  const sequences = [...counts.keys()].map(({ name }) => `${name}_number`);
  return { text: NEXT_NUMBERS, values: [arrayOf(sequences), arrayOf([...counts.values()])] };
}

/** Returns the numbers of each table, in the order of the tables. */
export function numbersIn(rows: Rows): number[][] {
  return (rows as unknown as { numbers: string | null }[]).map(({ numbers }) =>
    numbers === null ? [] : numbers.split(",").map(Number),
  );
}

const columns = Object.fromEntries(NUMBERED_TABLES.map((table) => [table, number])) as Record<
  keyof Numbers,
  typeof number
>;
const forEachTable = (value: (table: string) => string) =>
  query({
    columns,
    text: `SELECT ${NUMBERED_TABLES.map((table) => `(${value(table)}) AS ${table}`).join()}`,
  });
const ISSUED_NUMBERS = forEachTable((table) => `SELECT last_value FROM ${table}_number`);
const ROW_COUNTS = forEachTable((table) => `SELECT count(*) FROM ${table}`);

/**
 * Returns the last number of each sequence, and a floor for each. The floor is above every number that may have been
 * issued after the moment to which the database was restored.
 */
export function numbersAfterRestore(reader: Reader): { issued: Numbers; floors: Numbers } {
  const issued = reader.one(ISSUED_NUMBERS)!;
  const rows = reader.one(ROW_COUNTS)!;
  return { issued, floors: numbersBy((table) => issued[table] + Math.max(MARGIN, rows[table])) };
}
