// The numbers of orders, transfers and other rows that the database counts up: a sequence for each table. They are taken
// behind the batch's locks, so that within an account they grow in the order of the commits; between accounts they need
// not, and a batch that is rolled back leaves a gap.

import type { AnyTable } from "../table-definition.ts";
import type { Statement } from "./connection.ts";

/** The next `count` numbers of a table. */
export function numbersStatement({ name }: AnyTable, count: number): Statement {
  return {
    text: `SELECT nextval('${name}_number')::float8 AS number FROM generate_series(1, $1::int)`,
    values: [String(count)],
  };
}
