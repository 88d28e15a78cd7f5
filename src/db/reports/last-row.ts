// The time of the latest row, by which a clock that was set back is noticed.

import { nullable, number } from "../port/table-definition.ts";

export const LAST_ROW_COLUMNS = {
  lastTransferAt: nullable(number),
  lastOrderAt: nullable(number),
  lastUserAt: nullable(number),
};

/** Selects LAST_ROW_COLUMNS, each by one index search. */
export const LAST_ROW_TIMES = `
    (SELECT created_at FROM transfers ORDER BY seq DESC LIMIT 1) AS "lastTransferAt",
    (SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1) AS "lastOrderAt",
    (SELECT created_at FROM users ORDER BY account DESC LIMIT 1) AS "lastUserAt"`;

/** Returns the latest time, in milliseconds since 1970; null if nothing has been written yet. */
export function lastRowAt(times: {
  lastTransferAt: number | null;
  lastOrderAt: number | null;
  lastUserAt: number | null;
}): number | null {
  const { lastTransferAt, lastOrderAt, lastUserAt } = times;
  return Math.max(lastTransferAt ?? 0, lastOrderAt ?? 0, lastUserAt ?? 0) || null;
}
