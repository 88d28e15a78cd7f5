// Revenue, refunds and costs of orders by day, service, reseller or provider: sums over ranges of rows, so that many
// rows can be read in steps. Leaves out test orders and orders that were imported from another panel. Stored totals are
// in daily-totals.ts.

import { stepAbove } from "./row-ranges.ts";
import { LIVE_ORDER_CONDITION } from "../orders/orders.ts";
import { SOLD_HERE_CONDITION } from "../imports/imports.ts";
import type { Reader, Span } from "../port/port.ts";
import { query } from "../port/query.ts";
import { type Kinds, nullable, number, text } from "../port/table-definition.ts";
import { DAY_MS } from "../../domain/values/spans.ts";

export const REPORT_KEYS = ["day", "service", "reseller", "provider"] as const;
export type ReportKey = (typeof REPORT_KEYS)[number];

export interface Amounts {
  orders: number;
  revenueMicros: bigint;
  refundsMicros: bigint;
  /** Negative if providers took back more than they charged. */
  costMicros: bigint;
}

/** The sums of a range of rows for one key. */
export interface ReportPart extends Amounts {
  /** The number of a day since 1970 (UTC), the id of a service, an account, or a provider's number (empty: manual). */
  key: string;
}

const REPORTED_ORDER_CONDITION = `${LIVE_ORDER_CONDITION} AND ${SOLD_HERE_CONDITION}`;

/** The tables from which a report is counted: orders with their charges, transfers for refunds, changes of costs. */
export const REPORT_SOURCES = ["orders", "transfers", "order_costs"] as const;
export type ReportSource = (typeof REPORT_SOURCES)[number];

/** The number of the last row of each source. */
export type ReportPosition = Record<ReportSource, number>;

/** A range of times in milliseconds, both ends included. */
export interface Times {
  from: number;
  to: number;
}

/** SQL for a sum, read in two halves: sum() fails above 64 bits, and a double is not exact above 2^53. */
export const halvesOf = (
  column: string,
  [thousands, rest] = ["thousands", "rest"],
) => `CAST(sum(${column} / 1000000000) AS BIGINT) AS "${thousands}",
  CAST(sum(${column} % 1000000000) AS BIGINT) AS "${rest}"`;

interface Source {
  /** SQL for the rows to add up, joined with their orders. Each row counts for its own day. */
  rows: string;
  number: string;
  amount: string;
  at: string;
  orders: string;
}

export const SOURCES: Record<ReportSource, Source> = {
  orders: {
    rows: `orders WHERE ${REPORTED_ORDER_CONDITION}`,
    number: "orders.order_id",
    amount: "orders.charge_micros",
    at: "orders.created_at",
    orders: "count(*)",
  },
  transfers: {
    // With coalesce, PostgreSQL cannot use the partial index transfers_once_an_order, because the condition does not
    // imply that order_id IS NOT NULL. Without coalesce, it may read that whole index, because its statistics call it
    // empty until ANALYZE has seen the first orders.
    rows: `transfers JOIN orders ON orders.order_id = coalesce(transfers.order_id, 0)
      WHERE transfers.kind IN ('refund', 'partial_refund') AND ${REPORTED_ORDER_CONDITION}`,
    number: "transfers.seq",
    amount: "transfers.amount_micros",
    at: "transfers.created_at",
    orders: "0",
  },
  order_costs: {
    rows: `order_costs JOIN orders ON orders.order_id = order_costs.order_id WHERE ${REPORTED_ORDER_CONDITION}`,
    number: "order_costs.seq",
    amount: "order_costs.change_micros",
    at: "order_costs.created_at",
    orders: "0",
  },
};

/** SQL for the key of a row, as text. */
export const keyOf = (by: ReportKey, at: string): string =>
  ({
    day: `CAST(${at} / ${DAY_MS} AS TEXT)`,
    service: "orders.service_id",
    reseller: "CAST(orders.reseller_account AS TEXT)",
    provider: "coalesce(CAST(orders.provider_id AS TEXT), '')",
  })[by];

/** Makes the query for the sums of a source's rows. `condition`: SQL on its number and time. */
function sumsQuery<P extends Kinds>(
  by: ReportKey,
  source: ReportSource,
  parameters: P,
  condition: (source: Source) => string,
) {
  const { rows, amount, at, orders } = SOURCES[source];
  const key = keyOf(by, at);
  return query({
    parameters,
    columns: { key: text, orders: number, thousands: number, rest: number },
    text: `SELECT ${key} AS "key", ${orders} AS "orders", ${halvesOf(amount)}
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

/** Sums of changes of costs, read by the index on their times. */
const COSTS_WITHIN = byKey((by) =>
  sumsQuery(
    by,
    "order_costs",
    { from: number, to: number, upTo: number },
    ({ number: column, at }) => `${at} BETWEEN :from AND :to AND ${column} <= :upTo`,
  ),
);

/** Sums of unknown orders, which are few, read by their partial index. */
const UNKNOWN = byKey((by) => {
  const key = keyOf(by, "orders.created_at");
  return query({
    parameters: { from: number, to: number },
    columns: { key: text, orders: number, thousands: number, rest: number },
    text: `SELECT ${key} AS "key", count(*) AS "orders", ${halvesOf("orders.charge_micros")} FROM orders
      WHERE placement = 'unknown' AND status = 'PENDING' AND ${REPORTED_ORDER_CONDITION}
        AND orders.created_at BETWEEN :from AND :to GROUP BY ${key}`,
  });
});

const LAST = query({
  columns: { orders: nullable(number), transfers: nullable(number), order_costs: nullable(number) },
  text: `SELECT (SELECT max(order_id) FROM orders) AS "orders", (SELECT max(seq) FROM transfers) AS "transfers",
    (SELECT max(seq) FROM order_costs) AS "order_costs"`,
});

/** Returns the position after all present rows. */
export function lastPosition(reader: Reader): ReportPosition {
  const { orders, transfers, order_costs: costs } = reader.one(LAST)!;
  return { orders: orders ?? 0, transfers: transfers ?? 0, order_costs: costs ?? 0 };
}

/** Sums the first `rows` rows of a span. `next`: the rest of the span, null at its end. */
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

/** Sums the changes of costs within `times`, up to the row `upTo`. */
export function sumCostsWithin(
  reader: Reader,
  by: ReportKey,
  times: Times,
  upTo: number,
): ReportPart[] {
  const found = reader.all(COSTS_WITHIN[by], { ...times, upTo });
  return found.map((row) => partOf("order_costs", row));
}

/** Sums the charges of the orders created within `times` whose submission is unknown now. */
export function sumUnknown(
  reader: Reader,
  by: ReportKey,
  times: Times,
): { key: string; orders: number; micros: bigint }[] {
  return reader.all(UNKNOWN[by], { ...times }).map(({ key, orders, thousands, rest }) => ({
    key,
    orders,
    micros: microsOf(thousands, rest),
  }));
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

/** Joins the two halves of a sum. */
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
