// What orders brought and what was refunded, by day and one other thing: sums over a range of rows, so that a long
// window is read in steps. Test orders are left out.

import { stepAbove } from "./activity.ts";
import { NO_TEST_ORDER } from "./orders.ts";
import type { Reader, Span, TimeWindow } from "./port.ts";
import { timesOf } from "./pages.ts";
import { type Query, query } from "./query.ts";
import { type Kind, type Kinds, nullable, number, text } from "./table-definition.ts";

export const REPORT_KEYS = ["day", "service", "reseller", "provider"] as const;
export type ReportKey = (typeof REPORT_KEYS)[number];

/** What a range of rows comes to for one key. */
export interface ReportPart {
  /** The number of a day since 1970 in UTC, the id of a service, an account, a provider's number (null: by hand). */
  key: string | number | null;
  orders: number;
  revenueMicros: bigint;
  refundsMicros: bigint;
}

/** The rows that a report is counted from, both with their revenue or refunds. */
export type ReportSource = "orders" | "transfers";

const DAY_MS = 86_400_000;

const KEYS: Record<ReportKey, { kind: Kind; sql: (of: string) => string }> = {
  // Refunds count on their own day.
  day: { kind: number, sql: (of) => `${of}.created_at / ${DAY_MS}` },
  service: { kind: text, sql: () => "orders.service_id" },
  reseller: { kind: number, sql: () => "orders.reseller_account" },
  provider: { kind: nullable(number), sql: () => "orders.provider_id" },
};

// In two halves: sum() fails when it exceeds 64 bits, and a double is not exact above 2^53.
const sums = (column: string) => `CAST(sum(${column} / 1000000000) AS BIGINT) AS "thousands",
  CAST(sum(${column} % 1000000000) AS BIGINT) AS "rest"`;

const SOURCES: Record<ReportSource, (by: ReportKey) => string> = {
  orders: (by) => `SELECT ${KEYS[by].sql("orders")} AS "key", count(*) AS "orders",
      ${sums("orders.charge_micros")}
    FROM orders WHERE order_id > :after AND order_id <= :upTo AND created_at BETWEEN :from AND :to
      AND ${NO_TEST_ORDER}
    GROUP BY ${KEYS[by].sql("orders")}`,
  transfers: (by) => `SELECT ${KEYS[by].sql("transfers")} AS "key", 0 AS "orders",
      ${sums("transfers.amount_micros")}
    FROM transfers JOIN orders ON orders.order_id = transfers.order_id
    WHERE transfers.seq > :after AND transfers.seq <= :upTo
      AND transfers.kind IN ('refund', 'partial_refund')
      AND transfers.created_at BETWEEN :from AND :to AND ${NO_TEST_ORDER}
    GROUP BY ${KEYS[by].sql("transfers")}`,
};

interface Sums {
  key: string | number | null;
  orders: number;
  thousands: number;
  rest: number;
}

const QUERIES = new Map<string, Query<Sums, Kinds>>();
for (const by of REPORT_KEYS) {
  for (const source of ["orders", "transfers"] as const) {
    const made = query({
      takes: { after: number, upTo: number, from: number, to: number },
      gives: { key: KEYS[by].kind, orders: number, thousands: number, rest: number },
      text: SOURCES[source](by),
    });
    QUERIES.set(`${by} ${source}`, made as unknown as Query<Sums, Kinds>);
  }
}

const LAST = {
  orders: query({
    gives: { last: nullable(number) },
    text: "SELECT max(order_id) AS last FROM orders",
  }),
  transfers: query({
    gives: { last: nullable(number) },
    text: "SELECT max(seq) AS last FROM transfers",
  }),
};

/** The numbers of the rows of a window, oldest first; none above the last one there is now. */
export function reportSpans(reader: Reader, source: ReportSource, window: TimeWindow): Span[] {
  const last = reader.one(LAST[source])!.last ?? 0;
  return reader
    .spans(source, null, window)
    .map((span) => ({ first: span.first, last: Math.min(span.last, last) }))
    .filter((span) => span.first <= span.last)
    .toReversed();
}

/** Sums over the first `rows` rows of a span; `next` is the rest of it, null at its end. */
export function sumReport(
  reader: Reader,
  by: ReportKey,
  source: ReportSource,
  { first, last }: Span,
  window: TimeWindow,
  rows: number,
): { parts: ReportPart[]; next: Span | null } {
  const upTo = Math.min(stepAbove(reader, source, first - 1, rows), last);
  const values = { after: first - 1, upTo, ...timesOf(window) };
  const parts = reader.all(QUERIES.get(`${by} ${source}`)!, values).map((found) => {
    const micros = BigInt(found.thousands) * 1_000_000_000n + BigInt(found.rest);
    const isRefund = source === "transfers";
    return {
      key: found.key,
      orders: found.orders,
      revenueMicros: isRefund ? 0n : micros,
      refundsMicros: isRefund ? micros : 0n,
    };
  });
  return { parts, next: upTo < last ? { first: upTo + 1, last } : null };
}
