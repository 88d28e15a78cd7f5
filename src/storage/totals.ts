// A few totals of a database, by which an operator recognises it.

import type { Database } from "bun:sqlite";

export interface Totals {
  users: number;
  orders: number;
  transfers: number;
  balanceMicros: bigint;
  /** Milliseconds; null without an order. */
  lastOrderAt: number | null;
}

/** Of a database of any version. */
export function totalsOf(sqlite: Database): Totals {
  // Without test money: no other username has a colon. Added up here: the sum may exceed 64 bits. Cast to an integer first: a damaged or foreign table may hold any value.
  const balances = sqlite
    .query(
      "SELECT CAST(CAST(coalesce(balance_micros, 0) AS INTEGER) AS TEXT) FROM users WHERE username NOT LIKE 'test:%'",
    )
    .values();
  const balanceMicros = balances.reduce((sum, [micros]) => sum + BigInt(micros as string), 0n);
  const counts = sqlite
    .query(
      `SELECT (SELECT count(*) FROM users WHERE username NOT LIKE 'test:%') AS users, (SELECT count(*) FROM orders) AS orders,
        (SELECT count(*) FROM transfers) AS transfers,
        (SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1) AS lastOrderAt`,
    )
    .get() as Omit<Totals, "balanceMicros">;
  return { ...counts, balanceMicros };
}
