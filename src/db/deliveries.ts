// Submission attempts, and the orders that are queued or being sent.

import type { AttemptOutcome, Delivery } from "../domain/deliveries.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import { number } from "./table.ts";
import { attempts, orders } from "./tables.ts";
import { findOrder, type Order } from "./orders.ts";

/** An order that has a provider. */
export interface OrderWithDelivery extends Order {
  delivery: Delivery;
}

export interface Attempt {
  attemptId: number;
  orderId: number;
  outcome: AttemptOutcome;
  /** For the operator only. */
  cause: string | null;
  startedAt: number;
  finishedAt: number | null;
}

const ATTEMPTS = query({
  takes: { orderId: number },
  gives: fields(attempts),
  text: `SELECT ${select(attempts)} FROM placement_attempts
    WHERE order_id = :orderId ORDER BY attempt_id`,
});

const COUNT_ATTEMPTS = query({
  takes: { orderId: number },
  gives: { tries: number },
  within: ["orderId"],
  text: `SELECT count(*) AS "tries" FROM placement_attempts WHERE order_id = :orderId`,
});

// Status and placement are literals, so that the partial indexes can be used.
const DUE = query({
  takes: { providerId: number, now: number, limit: number },
  gives: fields(orders, "orderId"),
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE provider_id = :providerId AND placement = 'queued' AND status = 'PENDING' AND next_place_at <= :now
    ORDER BY next_place_at, order_id LIMIT :limit`,
});

const QUEUED = query({
  gives: fields(orders, "orderId"),
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE placement = 'queued' AND status = 'PENDING' ORDER BY order_id`,
});

const SENDING = query({
  gives: fields(orders, "orderId"),
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE placement = 'sending' ORDER BY order_id`,
});

const CLAMP_SUBMIT_SCHEDULE = statement({
  takes: { latest: number },
  writes: [orders],
  text: `UPDATE orders SET next_place_at = :latest
    WHERE placement = 'queued' AND status = 'PENDING' AND next_place_at > :latest`,
});

/** The queued orders of a provider that are due, longest overdue first. */
export function listDueSubmissions(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): number[] {
  return reader.all(DUE, { providerId, now, limit }).map(({ orderId }) => orderId);
}

/** The numbers of every queued order. */
export function listQueued(reader: Reader): number[] {
  return reader.all(QUEUED).map(({ orderId }) => orderId);
}

/** The numbers of orders whose attempt was started and has no outcome. */
export function listSending(reader: Reader): number[] {
  return reader.all(SENDING).map(({ orderId }) => orderId);
}

export function listAttempts(reader: Reader, orderId: number): Attempt[] {
  return reader.all(ATTEMPTS, { orderId });
}

export function countAttempts(reader: Reader, orderId: number): number {
  return reader.one(COUNT_ATTEMPTS, { orderId })!.tries;
}

/** A UNIQUE index refuses a second attempt while one is unfinished, or after one that may have been sent. */
export function insertAttempt(tx: Tx, orderId: number, startedAt: number): void {
  tx.insert(attempts, { orderId, outcome: "sending", startedAt });
}

export function finishAttemptRow(
  tx: Tx,
  {
    orderId,
    ...finished
  }: { orderId: number; outcome: AttemptOutcome; cause: string | null; finishedAt: number },
): void {
  const attempt = tx.row(attempts.bySentOrder, orderId);
  if (attempt?.outcome !== "sending") throw new Error(`order ${orderId} is not being sent`);
  tx.update(attempts, attempt, finished);
}

/** Sets retries that are scheduled after `latest` to `latest`. */
export function clampSubmitSchedule(tx: Tx, latest: number): void {
  tx.run(CLAMP_SUBMIT_SCHEDULE, { latest });
}

/** An order that must exist and have a provider. */
export function orderOf(reader: Reader, orderId: number): OrderWithDelivery {
  const order = findOrder(reader, String(orderId));
  if (!order) throw new Error(`there is no order ${orderId}`);
  return requireDelivery(order);
}

/** The order, which must have a provider. */
export function requireDelivery(order: Order): OrderWithDelivery {
  const { delivery } = order;
  if (!delivery) throw new Error(`order ${order.orderId} has no provider`);
  return { ...order, delivery };
}
