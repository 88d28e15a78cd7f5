// Orders by status and money by kind, in periods of time: counted once, then updated from new rows. Each count is one
// statement over a range of rows, as in status-counts.ts, and may return several rows for a period. Rows of the test side
// are counted separately.

import type { TransferKind } from "../../domain/ledger/ledger.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { NO_TEST_ORDER } from "../orders/orders.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import type { Position } from "./status-counts.ts";
import { boolean, number, textOf } from "../port/table-definition.ts";

/** The duration of a period in milliseconds. A period's number is its start divided by this. */
export const PERIOD_MS = 300_000;

/** A change of the number of orders that were created in a period and have a status. */
export interface OrderChange {
  period: number;
  status: OrderStatus;
  isTest: boolean;
  orders: number;
}

/** The sum of transfers of a kind, or of changes of costs, in a period. */
export interface MoneyChange {
  period: number;
  kind: TransferKind | "cost";
  isTest: boolean;
  micros: bigint;
}

const PERIOD = `created_at / ${PERIOD_MS}`;
const ORDER_CHANGE = {
  period: number,
  status: textOf<OrderStatus>(),
  isTest: boolean,
  orders: number,
};
const IS_TEST = `CASE WHEN ${NO_TEST_ORDER} THEN 0 ELSE 1 END`;

/** SQL for orders by the status in which they were created: the one before an order's first event. */
const firstStatuses = (range: string) => `
  SELECT period AS "period", first_status AS "status", is_test AS "isTest", count(*) AS "orders" FROM (
    SELECT ${PERIOD} AS period, coalesce(
        (SELECT from_status FROM order_events AS event
          WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
        status) AS first_status, ${IS_TEST} AS is_test
    FROM orders WHERE ${range} AND created_at >= :from
  ) AS counted GROUP BY period, first_status, is_test`;

/** SQL for what events changed (sign `1`), or the reverse of it (`-1`), in the periods of their orders. */
const moved = (events: string, sign: 1 | -1) =>
  (["from_status", "to_status"] as const)
    .map(
      (status) => `
  SELECT orders.${PERIOD} AS "period", ${status} AS "status", ${IS_TEST} AS "isTest",
      ${status === "to_status" ? sign : -sign} * count(*) AS "orders"
    FROM order_events AS event JOIN orders ON orders.order_id = event.order_id
    WHERE ${events} AND orders.created_at >= :from
    GROUP BY orders.${PERIOD}, ${status}, ${IS_TEST}`,
    )
    .join(" UNION ALL ");

// Present statuses minus what happened after the event. One statement, so that no event falls between its parts.
const ORDERS_AT = query({
  parameters: { after: number, upTo: number, eventSeq: number, from: number },
  columns: ORDER_CHANGE,
  text: `SELECT ${PERIOD} AS "period", status AS "status", ${IS_TEST} AS "isTest", count(*) AS "orders"
      FROM orders WHERE order_id > :after AND order_id <= :upTo AND created_at >= :from
      GROUP BY ${PERIOD}, status, ${IS_TEST}
    UNION ALL ${moved("event.seq > :eventSeq AND event.order_id > :after AND event.order_id <= :upTo", -1)}`,
});

const ADDED_ORDERS = query({
  parameters: { after: number, upTo: number, from: number },
  columns: ORDER_CHANGE,
  text: firstStatuses("order_id > :after AND order_id <= :upTo"),
});

const MOVED_ORDERS = query({
  parameters: { after: number, upTo: number, from: number },
  columns: ORDER_CHANGE,
  text: moved("event.seq > :after AND event.seq <= :upTo", 1),
});

// With the clocks of several servers, an event can be older than its order.
const EARLY_MOVED_ORDERS = query({
  parameters: { orderId: number, eventSeq: number, from: number },
  columns: ORDER_CHANGE,
  text: moved("event.order_id > :orderId AND event.seq <= :eventSeq", 1),
});

// Orders and events after a position, in one statement.
const YOUNG_ORDERS = query({
  parameters: { orderId: number, eventSeq: number, from: number },
  columns: ORDER_CHANGE,
  text: `${firstStatuses("order_id > :orderId")} UNION ALL ${moved("event.seq > :eventSeq", 1)}`,
});

const lastOf = (table: "transfers" | "order_costs") =>
  query({
    parameters: { before: number },
    columns: { seq: number },
    text: `SELECT coalesce(
      (SELECT seq FROM ${table} WHERE created_at <= :before ORDER BY seq DESC LIMIT 1), 0) AS "seq"`,
  });
const LAST = { transfers: lastOf("transfers"), order_costs: lastOf("order_costs") };

// In a transfer of the test side, one account is the test side's cash or sales, which are negative.
const IS_TEST_TRANSFER = "CASE WHEN debit_account < 0 OR credit_account < 0 THEN 1 ELSE 0 END";

// Sums are read in two halves: sum() fails above 64 bits, and a double is not exact above 2^53.
const MONEY = query({
  parameters: { after: number, upTo: number, from: number },
  columns: {
    period: number,
    kind: textOf<TransferKind>(),
    isTest: boolean,
    thousands: number,
    rest: number,
  },
  text: `SELECT ${PERIOD} AS "period", kind AS "kind", ${IS_TEST_TRANSFER} AS "isTest",
      CAST(sum(amount_micros / 1000000000) AS BIGINT) AS "thousands",
      CAST(sum(amount_micros % 1000000000) AS BIGINT) AS "rest"
    FROM transfers WHERE seq > :after AND seq <= :upTo AND created_at >= :from
    GROUP BY ${PERIOD}, kind, ${IS_TEST_TRANSFER}`,
});

// The test side has no costs.
const COSTS = query({
  parameters: { after: number, upTo: number, from: number },
  columns: { period: number, thousands: number, rest: number },
  text: `SELECT ${PERIOD} AS "period",
      CAST(sum(change_micros / 1000000000) AS BIGINT) AS "thousands",
      CAST(sum(change_micros % 1000000000) AS BIGINT) AS "rest"
    FROM order_costs WHERE seq > :after AND seq <= :upTo AND created_at >= :from GROUP BY ${PERIOD}`,
});

/** The tables whose rows are counted, and the column of their numbers. */
const NUMBERS = {
  orders: "order_id",
  order_events: "seq",
  transfers: "seq",
  order_costs: "seq",
} as const;
export type Counted = keyof typeof NUMBERS;

const stepQueries = (table: Counted) => {
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
  };
};

const STEPS: Record<Counted, ReturnType<typeof stepQueries>> = {
  orders: stepQueries("orders"),
  order_events: stepQueries("order_events"),
  transfers: stepQueries("transfers"),
  order_costs: stepQueries("order_costs"),
};

/** Returns the number that has `rows` rows above it up to `from`; 0 when there are fewer. Numbers may have gaps. */
export function stepBelow(reader: Reader, table: Counted, from: number, rows: number): number {
  return reader.one(STEPS[table].below, { from, rows })?.edge ?? 0;
}

/** Returns the number of the row that is `rows` rows above `from`; Infinity when there are fewer. */
export function stepAbove(reader: Reader, table: Counted, from: number, rows: number): number {
  return reader.one(STEPS[table].above, { from, rows: rows - 1 })?.edge ?? Infinity;
}

/**
 * Rows with numbers above `after` and up to `upTo`. Only rows created from `from` on count; for events, the order's
 * creation decides.
 */
export interface Range {
  after: number;
  upTo: number;
  from: number;
}

/** Counts orders with these numbers, created from `from` on, by their status after the event `eventSeq`. */
export function countOrdersAt(reader: Reader, range: Range, eventSeq: number): OrderChange[] {
  return reader.all(ORDERS_AT, { ...range, eventSeq });
}

/** Counts orders by the status in which they were created. */
export function countAddedOrders(reader: Reader, range: Range): OrderChange[] {
  return reader.all(ADDED_ORDERS, { ...range });
}

/** Counts the changes that events with these numbers made. */
export function countMovedOrders(reader: Reader, range: Range): OrderChange[] {
  return reader.all(MOVED_ORDERS, { ...range });
}

/** Counts the changes by events up to the position whose orders are after it. */
export function countEarlyMovedOrders(
  reader: Reader,
  position: Position,
  from: number,
): OrderChange[] {
  return reader.all(EARLY_MOVED_ORDERS, { ...position, from });
}

/** Counts the changes by orders and events after the position. */
export function countYoungOrders(reader: Reader, position: Position, from: number): OrderChange[] {
  return reader.all(YOUNG_ORDERS, { ...position, from });
}

/** The number of the last row that was created up to `before` (milliseconds). */
export function lastMoney(
  reader: Reader,
  table: "transfers" | "order_costs",
  before: number,
): number {
  return reader.one(LAST[table], { before })!.seq;
}

/** Sums transfers by kind and by the transfer's period. */
export function sumMoney(reader: Reader, range: Range): MoneyChange[] {
  return reader.all(MONEY, { ...range }).map(({ thousands, rest, ...change }) => ({
    ...change,
    micros: BigInt(thousands) * 1_000_000_000n + BigInt(rest),
  }));
}

/** Sums changes of costs by their period. */
export function sumCosts(reader: Reader, range: Range): MoneyChange[] {
  return reader.all(COSTS, { ...range }).map(({ period, thousands, rest }) => ({
    period,
    kind: "cost",
    isTest: false,
    micros: BigInt(thousands) * 1_000_000_000n + BigInt(rest),
  }));
}
