// What payments brought in, for reports.

import { microsOf, halvesOf } from "../reports/reports.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";

/** Money of a method that was received for payments, in one currency. */
export interface Received {
  methodId: string;
  currency: string;
  /** Number of payments. */
  count: number;
  micros: bigint;
}

const RECEIVED = query({
  parameters: { from: number, to: number },
  columns: { methodId: text, currency: text, count: number, thousands: number, rest: number },
  text: `SELECT method_id AS "methodId", received_currency AS "currency", count(*) AS "count",
      ${halvesOf("received_micros")}
    FROM payments WHERE paid_at BETWEEN :from AND :to
    GROUP BY method_id, received_currency ORDER BY method_id, received_currency`,
});

/** Returns what was received for the payments that were credited in a period, with fees, before anything was given back. */
export function listReceived(reader: Reader, times: { from: number; to: number }): Received[] {
  return reader.all(RECEIVED, times).map(({ thousands, rest, ...received }) => ({
    ...received,
    micros: microsOf(thousands, rest),
  }));
}
