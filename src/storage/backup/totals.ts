// A few totals by which an operator recognises a database.

import type { Database } from "bun:sqlite";

export interface Totals {
  users: number;
  orders: number;
  transfers: number;
  balanceMicros: bigint;
  /** Milliseconds since 1970; null if there are no orders. */
  lastOrderAt: number | null;
}

export function totalsOf(sqlite: Database): Totals {
  // Excludes test money: only usernames of test accounts have a colon. The sum is made here, because it may exceed
  // 64 bits. The cast is needed because a damaged or foreign table may hold any value.
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
