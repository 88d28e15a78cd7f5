// The number of orders by status and what they were charged, in all or by the period of their creation: counted once, then updated from new orders
// and events. Each count is one statement over a range of rows. Its result for rows up to a position never changes, so
// the ranges need no common snapshot. Rows of the test side are counted separately.

import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { LIVE_ORDER_CONDITION } from "../orders/orders.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { boolean, number, textOf } from "../port/table-definition.ts";
import { halvesOf, microsOf } from "./reports.ts";
import type { Range } from "./row-ranges.ts";

/** The duration of a period in milliseconds. A period's number is its start divided by this. */
export const PERIOD_MS = 300_000;

/** The last order and the last event that are counted. */
export interface OrderPosition {
  orderId: number;
  eventSeq: number;
}

/**
 * A change of the number of orders with a status that were created in a period. Several changes may have the same
 * status and period.
 */
export interface OrderChange {
  period: number;
  status: OrderStatus;
  isTest: boolean;
  orders: number;
  /** What these orders were charged. */
  chargedMicros: bigint;
}

const CHANGE = {
  period: number,
  status: textOf<OrderStatus>(),
  isTest: boolean,
  orders: number,
  thousands: number,
  rest: number,
};
type Row = Omit<OrderChange, "chargedMicros"> & { thousands: number; rest: number };
const IS_TEST = `CASE WHEN ${LIVE_ORDER_CONDITION} THEN 0 ELSE 1 END`;

/** Makes the counts. `period`: SQL for the period of an order. */
function orderCounts(period: string) {
  /** SQL for orders by the status in which they were created: the status before the order's first event. */
  const firstStatuses = (range: string) => `
    SELECT period AS "period", first_status AS "status", is_test AS "isTest", count(*) AS "orders",
        ${halvesOf("charge_micros")} FROM (
      SELECT ${period} AS period, coalesce(
          (SELECT from_status FROM order_events AS event
            WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
          status) AS first_status, ${IS_TEST} AS is_test, charge_micros
      FROM orders WHERE ${range} AND created_at >= :from
    ) AS counted GROUP BY period, first_status, is_test`;

  /** SQL for the changes by events (sign `1`), or their reverse (`-1`), in the periods of their orders. */
  const moved = (events: string, sign: 1 | -1) =>
    (["from_status", "to_status"] as const)
      .map(
        (status) => `
    SELECT ${period} AS "period", ${status} AS "status", ${IS_TEST} AS "isTest",
        ${status === "to_status" ? sign : -sign} * count(*) AS "orders",
        ${halvesOf(`${status === "to_status" ? sign : -sign} * orders.charge_micros`)}
      FROM order_events AS event JOIN orders ON orders.order_id = event.order_id
      WHERE ${events} AND orders.created_at >= :from
      GROUP BY ${period}, ${status}, ${IS_TEST}`,
      )
      .join(" UNION ALL ");

  const range = { after: number, upTo: number, from: number };
  const position = { orderId: number, eventSeq: number, from: number };
  // Present statuses minus what happened after the event. One statement, so that no event falls between its parts.
  const at = query({
    parameters: { ...range, eventSeq: number },
    columns: CHANGE,
    text: `SELECT ${period} AS "period", status AS "status", ${IS_TEST} AS "isTest", count(*) AS "orders",
          ${halvesOf("charge_micros")}
        FROM orders WHERE order_id > :after AND order_id <= :upTo AND created_at >= :from
        GROUP BY ${period}, status, ${IS_TEST}
      UNION ALL ${moved("event.seq > :eventSeq AND event.order_id > :after AND event.order_id <= :upTo", -1)}`,
  });
  const added = query({
    parameters: range,
    columns: CHANGE,
    text: firstStatuses("order_id > :after AND order_id <= :upTo"),
  });
  const transitions = query({
    parameters: range,
    columns: CHANGE,
    text: moved("event.seq > :after AND event.seq <= :upTo", 1),
  });
  // With the clocks of several servers, an event can be older than its order.
  const early = query({
    parameters: position,
    columns: CHANGE,
    text: moved("event.order_id > :orderId AND event.seq <= :eventSeq", 1),
  });
  // Orders and events after a position, in one statement.
  const young = query({
    parameters: position,
    columns: CHANGE,
    text: `${firstStatuses("order_id > :orderId")} UNION ALL ${moved("event.seq > :eventSeq", 1)}`,
  });
  return {
    /** Counts orders with these numbers by their status after the event `eventSeq`. */
    at: (reader: Reader, rows: Range, eventSeq: number): OrderChange[] =>
      reader.all(at, { ...rows, eventSeq }).map(changeOf),
    /** Counts orders with these numbers by the status in which they were created. */
    added: (reader: Reader, rows: Range): OrderChange[] =>
      reader.all(added, { ...rows }).map(changeOf),
    /** Counts the changes that events with these numbers made. */
    moved: (reader: Reader, rows: Range): OrderChange[] =>
      reader.all(transitions, { ...rows }).map(changeOf),
    /** Counts the changes by events up to the position whose orders are after it. */
    early: (reader: Reader, { orderId, eventSeq }: OrderPosition, from: number): OrderChange[] =>
      reader.all(early, { orderId, eventSeq, from }).map(changeOf),
    /** Counts the changes by orders and events after the position. */
    young: (reader: Reader, { orderId, eventSeq }: OrderPosition, from: number): OrderChange[] =>
      reader.all(young, { orderId, eventSeq, from }).map(changeOf),
  };
}

function changeOf({ thousands, rest, ...change }: Row): OrderChange {
  return { ...change, chargedMicros: microsOf(thousands, rest) };
}

export type OrderCounts = ReturnType<typeof orderCounts>;

/** Counts of all orders, as one period. The period is not a bare 0, which GROUP BY would take as a column number. */
export const ORDERS = orderCounts("CAST(0 AS BIGINT)");
export const ORDERS_BY_PERIOD = orderCounts(`orders.created_at / ${PERIOD_MS}`);
