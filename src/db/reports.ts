// What orders brought, what was refunded and what they cost, by day, service, reseller or provider: sums over a range of
// rows, so that many rows are read in steps. Test orders are left out. Rows that are counted once and for all: daily-totals.ts.

import { stepAbove } from "./activity.ts";
import { NO_TEST_ORDER } from "./orders.ts";
import type { Reader, Span } from "./port.ts";
import { query } from "./query.ts";
import { type Kinds, nullable, number, text } from "./table-definition.ts";

export const REPORT_KEYS = ["day", "service", "reseller", "provider"] as const;
export type ReportKey = (typeof REPORT_KEYS)[number];

export interface Amounts {
  orders: number;
  revenueMicros: bigint;
  refundsMicros: bigint;
  /** Negative where more was taken back than spent. */
  costMicros: bigint;
}

/** What a range of rows comes to for one key. */
export interface ReportPart extends Amounts {
  /** The number of a day since 1970 in UTC, the id of a service, an account, a provider's number (empty: by hand). */
  key: string;
}

/** The rows that a report is counted from: orders with their charges, refunds, changes of costs. */
export const REPORT_SOURCES = ["orders", "transfers", "order_costs"] as const;
export type ReportSource = (typeof REPORT_SOURCES)[number];

/** The last row of each. */
export type ReportPosition = Record<ReportSource, number>;

/** Both ends included, in milliseconds. */
export interface Times {
  from: number;
  to: number;
}

export const DAY_MS = 86_400_000;

// In two halves: sum() fails when it exceeds 64 bits, and a double is not exact above 2^53.
const sumOf = (column: string) => `CAST(sum(${column} / 1000000000) AS BIGINT) AS "thousands",
  CAST(sum(${column} % 1000000000) AS BIGINT) AS "rest"`;

interface Source {
  /** What is added up, of its own day, with the order that it belongs to. */
  rows: string;
  number: string;
  amount: string;
  at: string;
  orders: string;
}

export const SOURCES: Record<ReportSource, Source> = {
  orders: {
    rows: `orders WHERE ${NO_TEST_ORDER}`,
    number: "orders.order_id",
    amount: "orders.charge_micros",
    at: "orders.created_at",
    orders: "count(*)",
  },
  transfers: {
    // coalesce, which implies no "IS NOT NULL": without it PostgreSQL may read the whole of the partial index
    // transfers_once_an_order, which its statistics say is empty until ANALYZE has seen the first orders.
    rows: `transfers JOIN orders ON orders.order_id = coalesce(transfers.order_id, 0)
      WHERE transfers.kind IN ('refund', 'partial_refund') AND ${NO_TEST_ORDER}`,
    number: "transfers.seq",
    amount: "transfers.amount_micros",
    at: "transfers.created_at",
    orders: "0",
  },
  order_costs: {
    rows: `order_costs JOIN orders ON orders.order_id = order_costs.order_id WHERE ${NO_TEST_ORDER}`,
    number: "order_costs.seq",
    amount: "order_costs.change_micros",
    at: "order_costs.created_at",
    orders: "0",
  },
};

/** The key of a row, in SQL as a text. */
export const keyOf = (by: ReportKey, at: string): string =>
  ({
    day: `CAST(${at} / ${DAY_MS} AS TEXT)`,
    service: "orders.service_id",
    reseller: "CAST(orders.reseller_account AS TEXT)",
    provider: "coalesce(CAST(orders.provider_id AS TEXT), '')",
  })[by];

/** The sums of a source's rows; `condition` in SQL, on its number and time. */
function sumsQuery<P extends Kinds>(
  by: ReportKey,
  source: ReportSource,
  takes: P,
  condition: (source: Source) => string,
) {
  const { rows, amount, at, orders } = SOURCES[source];
  const key = keyOf(by, at);
  return query({
    takes,
    gives: { key: text, orders: number, thousands: number, rest: number },
    text: `SELECT ${key} AS "key", ${orders} AS "orders", ${sumOf(amount)}
      FROM ${rows} AND ${condition(SOURCES[source])} GROUP BY ${key}`,
  });
}

const byKey = <T>(make: (by: ReportKey) => T): Record<ReportKey, T> => ({
  day: make("day"),
  service: make("service"),
  reseller: make("reseller"),
  provider: make("provider"),
});

const bySource = <T>(make: (source: ReportSource) => T): Record<ReportSource, T> => ({
  orders: make("orders"),
  transfers: make("transfers"),
  order_costs: make("order_costs"),
});

const STEP = byKey((by) =>
  bySource((source) =>
    sumsQuery(
      by,
      source,
      { after: number, upTo: number, from: number, to: number },
      ({ number: column, at }) =>
        `${column} > :after AND ${column} <= :upTo AND ${at} BETWEEN :from AND :to`,
    ),
  ),
);

/** By the index on their times. */
const COSTS_WITHIN = byKey((by) =>
  sumsQuery(
    by,
    "order_costs",
    { from: number, to: number, upTo: number },
    ({ number: column, at }) => `${at} BETWEEN :from AND :to AND ${column} <= :upTo`,
  ),
);

const LAST = query({
  gives: { orders: nullable(number), transfers: nullable(number), order_costs: nullable(number) },
  text: `SELECT (SELECT max(order_id) FROM orders) AS "orders", (SELECT max(seq) FROM transfers) AS "transfers",
    (SELECT max(seq) FROM order_costs) AS "order_costs"`,
});

/** Of the rows that there are. */
export function lastPosition(reader: Reader): ReportPosition {
  const { orders, transfers, order_costs: costs } = reader.one(LAST)!;
  return { orders: orders ?? 0, transfers: transfers ?? 0, order_costs: costs ?? 0 };
}

/** Sums over the first `rows` rows of a span; `next` is the rest of it, null at its end. */
export function sumStep(
  reader: Reader,
  by: ReportKey,
  source: ReportSource,
  { first, last }: Span,
  times: Times,
  rows: number,
): { parts: ReportPart[]; next: Span | null } {
  const upTo = Math.min(stepAbove(reader, source, first - 1, rows), last);
  const found = reader.all(STEP[by][source], { after: first - 1, upTo, ...times });
  const parts = found.map((row) => partOf(source, row));
  return { parts, next: upTo < last ? { first: upTo + 1, last } : null };
}

/** Sums over the changes of costs in a time, up to a row. */
export function sumCostsWithin(
  reader: Reader,
  by: ReportKey,
  times: Times,
  upTo: number,
): ReportPart[] {
  const found = reader.all(COSTS_WITHIN[by], { ...times, upTo });
  return found.map((row) => partOf("order_costs", row));
}

function partOf(
  source: ReportSource,
  {
    key,
    orders,
    thousands,
    rest,
  }: { key: string; orders: number; thousands: number; rest: number },
): ReportPart {
  const micros = microsOf(thousands, rest);
  return {
    key,
    orders,
    revenueMicros: source === "orders" ? micros : 0n,
    refundsMicros: source === "transfers" ? micros : 0n,
    costMicros: source === "order_costs" ? micros : 0n,
  };
}

/** A sum that was read in two halves. */
export function microsOf(thousands: number, rest: number): bigint {
  return BigInt(thousands) * 1_000_000_000n + BigInt(rest);
}

export function noAmounts(): Amounts {
  return { orders: 0, revenueMicros: 0n, refundsMicros: 0n, costMicros: 0n };
}

export function addAmounts(sum: Amounts, part: Amounts): void {
  sum.orders += part.orders;
  sum.revenueMicros += part.revenueMicros;
  sum.refundsMicros += part.refundsMicros;
  sum.costMicros += part.costMicros;
}
