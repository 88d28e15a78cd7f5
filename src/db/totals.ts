// How much a database holds, in a few figures that an operator recognises it by.

import type { Database } from "bun:sqlite";

export interface Totals {
  users: number;
  orders: number;
  transfers: number;
  balanceMicros: number;
  /** Milliseconds; null without an order. */
  lastOrderAt: number | null;
}

/** Of a database of any version. */
export function totalsOf(sqlite: Database): Totals {
  return sqlite
    .query(
      `SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM orders) AS orders,
        (SELECT count(*) FROM transfers) AS transfers,
        (SELECT coalesce(sum(balance_micros), 0) FROM users) AS balanceMicros,
        (SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1) AS lastOrderAt`,
    )
    .get() as Totals;
}
