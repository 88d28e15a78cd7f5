// How many orders are in each state: counted once, then kept up by what was added since.
// All of it inside one read transaction of the caller's, a stretch of rows at a time.

import type { OrderStatus } from "../domain/orders.ts";
import type { Connection } from "./connection.ts";

/** Up to which order and event something was counted. */
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

/** The number of the first order above another; one beyond any when there is none. */
export function nextOrder({ sqlite }: Connection, after: number): number {
  const next = sqlite
    .query<{ orderId: number | null }, [number]>(
      "SELECT min(order_id) AS orderId FROM orders WHERE order_id > ?",
    )
    .get(after);
  return next?.orderId ?? Infinity;
}

/** As they are. */
export function countStatuses({ sqlite }: Connection, after: number, upTo: number): StatusCount[] {
  return sqlite
    .query(
      `SELECT status, count(*) AS orders FROM orders
      WHERE order_id > ? AND order_id <= ? GROUP BY status`,
    )
    .all(after, upTo) as StatusCount[];
}

/** As they were when the orders were made. */
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
          status) AS first, count(*) AS orders
      FROM orders WHERE order_id > ? AND order_id <= ? GROUP BY first`,
    )
    .all(after, upTo)
    .map((row) => {
      const { first, orders } = row as { first: OrderStatus; orders: number };
      return { status: first, orders };
    });
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
