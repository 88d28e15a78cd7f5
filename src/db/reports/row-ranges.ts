// Ranges of row numbers that contain a fixed number of rows. Gaps in the numbers cost nothing.

import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number } from "../port/table-definition.ts";

/** The tables whose rows are counted, and the column of their numbers. */
const NUMBERS = {
  orders: "order_id",
  order_events: "seq",
  transfers: "seq",
  order_costs: "seq",
} as const;
export type Counted = keyof typeof NUMBERS;

/**
 * Rows with numbers above `after` and up to `upTo`. Only rows created from `from` on are counted; for events, the time
 * of the order's creation counts.
 */
export interface Range {
  after: number;
  upTo: number;
  from: number;
}

const queriesOf = (table: Counted) => {
  const name = NUMBERS[table];
  const parameters = { from: number, rows: number };
  const columns = { edge: number };
  return {
    below: query({
      parameters,
      columns,
      text: `SELECT ${name} AS "edge" FROM ${table} WHERE ${name} <= :from ORDER BY ${name} DESC LIMIT 1 OFFSET :rows`,
    }),
    above: query({
      parameters,
      columns,
      text: `SELECT ${name} AS "edge" FROM ${table} WHERE ${name} > :from ORDER BY ${name} LIMIT 1 OFFSET :rows`,
    }),
    last: query({
      parameters: { before: number },
      columns: { edge: number },
      text: `SELECT coalesce(
        (SELECT ${name} FROM ${table} WHERE created_at <= :before ORDER BY ${name} DESC LIMIT 1), 0) AS "edge"`,
    }),
  };
};

const QUERIES: Record<Counted, ReturnType<typeof queriesOf>> = {
  orders: queriesOf("orders"),
  order_events: queriesOf("order_events"),
  transfers: queriesOf("transfers"),
  order_costs: queriesOf("order_costs"),
};

/** Returns the `after` of a range of `rows` rows that ends at `from`; 0 if there are fewer rows. */
export function stepBelow(reader: Reader, table: Counted, from: number, rows: number): number {
  return reader.one(QUERIES[table].below, { from, rows })?.edge ?? 0;
}

/** Returns the number of the last of the `rows` rows above `from`; Infinity if there are fewer rows. */
export function stepAbove(reader: Reader, table: Counted, from: number, rows: number): number {
  return reader.one(QUERIES[table].above, { from, rows: rows - 1 })?.edge ?? Infinity;
}

/** Returns the number of the last row that was created up to `before` (milliseconds); 0 if there is none. */
export function lastNumber(reader: Reader, table: Counted, before: number): number {
  return reader.one(QUERIES[table].last, { before })!.edge;
}
