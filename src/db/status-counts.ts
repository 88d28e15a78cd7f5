// How many orders are in each status: counted once, then updated from the orders and events that were added since.
// All of it in one read transaction of the caller, a range of rows at a time.

import type { OrderStatus } from "../domain/orders.ts";
import type { Connection } from "./sqlite/connection.ts";

/** The last order and event that are counted. */
export interface Position {
  orderId: number;
  eventSeq: number;
}

export interface StatusCount {
  status: OrderStatus;
  orders: number;
}

export interface TransitionCount {
  fromStatus: OrderStatus;
  toStatus: OrderStatus;
  orders: number;
}

export function lastPosition({ sqlite }: Connection): Position {
  return sqlite
    .query(
      `SELECT coalesce((SELECT max(order_id) FROM orders), 0) AS orderId,
        coalesce((SELECT max(seq) FROM order_events), 0) AS eventSeq`,
    )
    .get() as Position;
}

/** The number of the first order above `after`; Infinity without one. */
export function nextOrder({ sqlite }: Connection, after: number): number {
  const next = sqlite
    .query<{ orderId: number | null }, [number]>(
      "SELECT min(order_id) AS orderId FROM orders WHERE order_id > ?",
    )
    .get(after);
  return next?.orderId ?? Infinity;
}

/** By their current status. */
export function countStatuses({ sqlite }: Connection, after: number, upTo: number): StatusCount[] {
  return sqlite
    .query(
      `SELECT status, count(*) AS orders FROM orders
      WHERE order_id > ? AND order_id <= ? GROUP BY status`,
    )
    .all(after, upTo) as StatusCount[];
}

/** By the status in which the orders were created. */
export function countFirstStatuses(
  { sqlite }: Connection,
  after: number,
  upTo: number,
): StatusCount[] {
  return sqlite
    .query(
      `SELECT coalesce(
          (SELECT from_status FROM order_events AS event
            WHERE event.order_id = orders.order_id ORDER BY seq LIMIT 1),
          status) AS status, count(*) AS orders
      FROM orders WHERE order_id > ? AND order_id <= ? GROUP BY 1`,
    )
    .all(after, upTo) as StatusCount[];
}

export function countTransitions(
  { sqlite }: Connection,
  after: number,
  upTo: number,
): TransitionCount[] {
  return sqlite
    .query(
      `SELECT from_status AS fromStatus, to_status AS toStatus, count(*) AS orders
      FROM order_events WHERE seq > ? AND seq <= ? GROUP BY 1, 2`,
    )
    .all(after, upTo) as TransitionCount[];
}
