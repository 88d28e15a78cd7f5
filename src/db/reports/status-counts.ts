// The number of orders in each status: counted once, then updated from new orders and events. Each count is one
// statement over a range of rows. Its result for rows up to a Position never changes, so the ranges need no common
// snapshot.

import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { NO_TEST_ORDER } from "../orders/orders.ts";
import { boolean, nullable, number, textOf } from "../port/table-definition.ts";
import { orderEvents } from "../tables/orders.ts";

/** The last order and the last event that are counted. */
export interface Position {
  orderId: number;
  eventSeq: number;
}

/** A change of the number of orders in a status. */
export interface StatusChange {
  status: OrderStatus;
  isTest: boolean;
  orders: number;
}

export interface TransitionCount {
  fromStatus: OrderStatus;
  toStatus: OrderStatus;
  isTest: boolean;
  orders: number;
}

const POSITION = query({
  parameters: { before: number },
  columns: { orderId: number, eventSeq: number },
  text: `SELECT
    coalesce((SELECT order_id FROM orders WHERE created_at <= :before ORDER BY order_id DESC LIMIT 1), 0) AS "orderId",
    coalesce((SELECT seq FROM order_events WHERE created_at <= :before ORDER BY seq DESC LIMIT 1), 0) AS "eventSeq"`,
});

const NEXT_ORDER = query({
  parameters: { after: number },
  columns: { orderId: nullable(number) },
  text: `SELECT min(order_id) AS "orderId" FROM orders WHERE order_id > :after`,
});

const status = textOf<OrderStatus>();

const EVENTS = "order_events JOIN orders ON orders.order_id = order_events.order_id";
const IS_TEST = `CASE WHEN ${NO_TEST_ORDER} THEN 0 ELSE 1 END`;

// The first status of an order is the one before its first event.
const FIRST_STATUSES = query({
  parameters: { after: number, upTo: number },
  columns: { status, isTest: boolean, orders: number },
  text: `SELECT first_status AS "status", is_test AS "isTest", count(*) AS "orders" FROM (
      SELECT coalesce(
          (SELECT from_status FROM order_events AS event
            WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
          status) AS first_status, ${IS_TEST} AS is_test
      FROM orders WHERE order_id > :after AND order_id <= :upTo
    ) AS counted GROUP BY first_status, is_test`,
});

// Present statuses minus what happened after the event. One statement, so that no event falls between its parts.
const STATUSES_AT = query({
  parameters: { after: number, upTo: number, eventSeq: number },
  columns: { status, isTest: boolean, orders: number },
  text: `SELECT status AS "status", ${IS_TEST} AS "isTest", count(*) AS "orders" FROM orders
      WHERE order_id > :after AND order_id <= :upTo GROUP BY status, ${IS_TEST}
    UNION ALL
    SELECT from_status, ${IS_TEST}, count(*) FROM ${EVENTS}
      WHERE seq > :eventSeq AND order_events.order_id > :after AND order_events.order_id <= :upTo
      GROUP BY from_status, ${IS_TEST}
    UNION ALL
    SELECT to_status, ${IS_TEST}, -count(*) FROM ${EVENTS}
      WHERE seq > :eventSeq AND order_events.order_id > :after AND order_events.order_id <= :upTo
      GROUP BY to_status, ${IS_TEST}`,
});

const MOVED = {
  ...fields(orderEvents, "fromStatus", "toStatus"),
  isTest: boolean,
  orders: number,
};
const SELECT_MOVED = `SELECT ${select(orderEvents, "fromStatus", "toStatus")}, ${IS_TEST} AS "isTest",
  count(*) AS "orders" FROM ${EVENTS}`;
const BY_MOVE = `GROUP BY from_status, to_status, ${IS_TEST}`;

const TRANSITIONS = query({
  parameters: { after: number, upTo: number },
  columns: MOVED,
  text: `${SELECT_MOVED} WHERE seq > :after AND seq <= :upTo ${BY_MOVE}`,
});

// With the clocks of several servers, an event can be older than its order.
const EARLY_TRANSITIONS = query({
  parameters: { orderId: number, eventSeq: number },
  columns: MOVED,
  text: `${SELECT_MOVED} WHERE order_events.order_id > :orderId AND seq <= :eventSeq ${BY_MOVE}`,
});

// Orders and events after a position, in one statement.
const CHANGES_SINCE = query({
  parameters: { orderId: number, eventSeq: number },
  columns: { status, isTest: boolean, orders: number },
  text: `SELECT first_status AS "status", is_test AS "isTest", count(*) AS "orders" FROM (
      SELECT coalesce(
          (SELECT from_status FROM order_events AS event
            WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
          status) AS first_status, ${IS_TEST} AS is_test
      FROM orders WHERE order_id > :orderId
    ) AS counted GROUP BY first_status, is_test
    UNION ALL
    SELECT to_status, ${IS_TEST}, count(*) FROM ${EVENTS}
      WHERE seq > :eventSeq GROUP BY to_status, ${IS_TEST}
    UNION ALL
    SELECT from_status, ${IS_TEST}, -count(*) FROM ${EVENTS}
      WHERE seq > :eventSeq GROUP BY from_status, ${IS_TEST}`,
});

/** The last order and the last event that were created up to `before` (milliseconds). */
export function lastPosition(reader: Reader, before: number): Position {
  return reader.one(POSITION, { before })!;
}

/** The number of the first order above `after`; Infinity if there is none. */
export function nextOrder(reader: Reader, after: number): number {
  return reader.one(NEXT_ORDER, { after })!.orderId ?? Infinity;
}

/** Counts orders above `after` and up to `upTo` by their status after the event `eventSeq`. */
export function countStatusesAt(
  reader: Reader,
  after: number,
  upTo: number,
  eventSeq: number,
): StatusChange[] {
  return reader.all(STATUSES_AT, { after, upTo, eventSeq });
}

/** Counts orders above `after` and up to `upTo` by the status in which they were created. */
export function countFirstStatuses(reader: Reader, after: number, upTo: number): StatusChange[] {
  return reader.all(FIRST_STATUSES, { after, upTo });
}

export function countTransitions(reader: Reader, after: number, upTo: number): TransitionCount[] {
  return reader.all(TRANSITIONS, { after, upTo });
}

/** Counts transitions by events up to the position whose orders are after it. */
export function countEarlyTransitions(reader: Reader, position: Position): TransitionCount[] {
  return reader.all(EARLY_TRANSITIONS, { ...position });
}

/** Counts the changes by orders and events after the position. */
export function countChangesSince(reader: Reader, position: Position): StatusChange[] {
  return reader.all(CHANGES_SINCE, { ...position });
}
