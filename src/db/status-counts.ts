// How many orders are in each status: counted once, then updated from the orders and events that were added since.
// Each count is one statement over a range of rows. What it says of rows up to a Position never changes, so that the
// ranges need no snapshot in common.

import type { OrderStatus } from "../domain/orders.ts";
import type { Reader } from "./port.ts";
import { fields, query, select } from "./query.ts";
import { nullable, number, textOf } from "./table-definition.ts";
import { orderEvents } from "./tables.ts";

/** The last order and event that are counted. */
export interface Position {
  orderId: number;
  eventSeq: number;
}

/** Change of the number of orders in a status. */
export interface StatusChange {
  status: OrderStatus;
  orders: number;
}

export interface TransitionCount {
  fromStatus: OrderStatus;
  toStatus: OrderStatus;
  orders: number;
}

const POSITION = query({
  takes: { before: number },
  gives: { orderId: number, eventSeq: number },
  text: `SELECT
    coalesce((SELECT order_id FROM orders WHERE created_at <= :before ORDER BY order_id DESC LIMIT 1), 0) AS "orderId",
    coalesce((SELECT seq FROM order_events WHERE created_at <= :before ORDER BY seq DESC LIMIT 1), 0) AS "eventSeq"`,
});

const NEXT_ORDER = query({
  takes: { after: number },
  gives: { orderId: nullable(number) },
  text: `SELECT min(order_id) AS "orderId" FROM orders WHERE order_id > :after`,
});

const status = textOf<OrderStatus>();

// The order's first event says what its status was before.
const FIRST_STATUSES = query({
  takes: { after: number, upTo: number },
  gives: { status, orders: number },
  text: `SELECT first_status AS "status", count(*) AS "orders" FROM (
      SELECT coalesce(
          (SELECT from_status FROM order_events AS event
            WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
          status) AS first_status
      FROM orders WHERE order_id > :after AND order_id <= :upTo
    ) AS counted GROUP BY first_status`,
});

// One statement, so that no event falls between its parts: current statuses, less what happened after the event.
const STATUSES_AT = query({
  takes: { after: number, upTo: number, eventSeq: number },
  gives: { status, orders: number },
  text: `SELECT status AS "status", count(*) AS "orders" FROM orders
      WHERE order_id > :after AND order_id <= :upTo GROUP BY status
    UNION ALL
    SELECT from_status, count(*) FROM order_events
      WHERE seq > :eventSeq AND order_id > :after AND order_id <= :upTo GROUP BY from_status
    UNION ALL
    SELECT to_status, -count(*) FROM order_events
      WHERE seq > :eventSeq AND order_id > :after AND order_id <= :upTo GROUP BY to_status`,
});

const TRANSITIONS = query({
  takes: { after: number, upTo: number },
  gives: { ...fields(orderEvents, "fromStatus", "toStatus"), orders: number },
  text: `SELECT ${select(orderEvents, "fromStatus", "toStatus")}, count(*) AS "orders" FROM order_events
    WHERE seq > :after AND seq <= :upTo GROUP BY from_status, to_status`,
});

// By the clocks of several servers an event can be older than its order.
const EARLY_TRANSITIONS = query({
  takes: { orderId: number, eventSeq: number },
  gives: { ...fields(orderEvents, "fromStatus", "toStatus"), orders: number },
  text: `SELECT ${select(orderEvents, "fromStatus", "toStatus")}, count(*) AS "orders" FROM order_events
    WHERE order_id > :orderId AND seq <= :eventSeq GROUP BY from_status, to_status`,
});

// Orders and events above a position, in one statement.
const CHANGES_SINCE = query({
  takes: { orderId: number, eventSeq: number },
  gives: { status, orders: number },
  text: `SELECT first_status AS "status", count(*) AS "orders" FROM (
      SELECT coalesce(
          (SELECT from_status FROM order_events AS event
            WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
          status) AS first_status
      FROM orders WHERE order_id > :orderId
    ) AS counted GROUP BY first_status
    UNION ALL
    SELECT to_status, count(*) FROM order_events WHERE seq > :eventSeq GROUP BY to_status
    UNION ALL
    SELECT from_status, -count(*) FROM order_events WHERE seq > :eventSeq GROUP BY from_status`,
});

/** The last order and event of those that were created up to `before`, in milliseconds. */
export function lastPosition(reader: Reader, before: number): Position {
  return reader.one(POSITION, { before })!;
}

/** The number of the first order above `after`; Infinity without one. */
export function nextOrder(reader: Reader, after: number): number {
  return reader.one(NEXT_ORDER, { after })!.orderId ?? Infinity;
}

/** By their status after the event `eventSeq`. */
export function countStatusesAt(
  reader: Reader,
  after: number,
  upTo: number,
  eventSeq: number,
): StatusChange[] {
  return reader.all(STATUSES_AT, { after, upTo, eventSeq });
}

/** By the status in which the orders were created. */
export function countFirstStatuses(reader: Reader, after: number, upTo: number): StatusChange[] {
  return reader.all(FIRST_STATUSES, { after, upTo });
}

export function countTransitions(reader: Reader, after: number, upTo: number): TransitionCount[] {
  return reader.all(TRANSITIONS, { after, upTo });
}

/** Events up to the position of orders above it. */
export function countEarlyTransitions(reader: Reader, position: Position): TransitionCount[] {
  return reader.all(EARLY_TRANSITIONS, { ...position });
}

/** What orders and events above the position add. */
export function countChangesSince(reader: Reader, position: Position): StatusChange[] {
  return reader.all(CHANGES_SINCE, { ...position });
}
