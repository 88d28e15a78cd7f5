// The numbers of orders, transfers and other rows that the database counts up: a sequence for each table. They are taken
// behind the batch's locks, so that within an account they grow in the order of the commits; between accounts they need
// not, and a batch that is rolled back leaves a gap.

import type { AnyTable } from "../table-definition.ts";
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
