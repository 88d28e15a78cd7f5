// Submission attempts, and the orders that are queued or being sent.

import { asc, eq, sql } from "drizzle-orm";
import type { AttemptOutcome, Delivery } from "../domain/deliveries.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { findOrder, type Order, toOrder } from "./orders.ts";
import { orders, placementAttempts } from "./schema.ts";

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

const queries = prepared((orm) => ({
  insert: orm
    .insert(placementAttempts)
    .values({
      orderId: sql.placeholder("orderId"),
      outcome: "sending",
      startedAt: sql.placeholder("startedAt"),
    })
    .prepare(),
  finish: orm
    .update(placementAttempts)
    .set({
      outcome: sql`${sql.placeholder("outcome")}`,
      cause: sql`${sql.placeholder("cause")}`,
      finishedAt: sql`${sql.placeholder("finishedAt")}`,
    })
    .where(
      sql`${placementAttempts.orderId} = ${sql.placeholder("orderId")} AND ${placementAttempts.outcome} = 'sending'`,
    )
    .returning({ attemptId: placementAttempts.attemptId })
    .prepare(),
  ofOrder: orm
    .select()
    .from(placementAttempts)
    .where(eq(placementAttempts.orderId, sql.placeholder("orderId")))
    .orderBy(asc(placementAttempts.attemptId))
    .prepare(),
  tries: orm
    .select({ tries: sql<number>`count(*)` })
    .from(placementAttempts)
    .where(eq(placementAttempts.orderId, sql.placeholder("orderId")))
    .prepare(),
  // Status and placement are literals, so that SQLite can use the partial index.
  due: orm
    .select({ orderId: orders.orderId })
    .from(orders)
    .where(
      sql`${orders.providerId} = ${sql.placeholder("providerId")} AND ${orders.placement} = 'queued'
        AND ${orders.status} = 'PENDING' AND ${orders.nextSubmitAt} <= ${sql.placeholder("now")}`,
    )
    .orderBy(asc(orders.nextSubmitAt), asc(orders.orderId))
    .limit(sql.placeholder("limit"))
    .prepare(),
  sending: orm
    .select()
    .from(orders)
    .where(sql`${orders.placement} = 'sending'`)
    .orderBy(asc(orders.orderId))
    .prepare(),
  queued: orm
    .select()
    .from(orders)
    .where(sql`${orders.placement} = 'queued' AND ${orders.status} = 'PENDING'`)
    .orderBy(asc(orders.orderId))
    .prepare(),
  clampSubmitSchedule: orm
    .update(orders)
    .set({ nextSubmitAt: sql`${sql.placeholder("latest")}` })
    .where(
      sql`${orders.placement} = 'queued' AND ${orders.status} = 'PENDING'
        AND ${orders.nextSubmitAt} > ${sql.placeholder("latest")}`,
    )
    .prepare(),
}));

/** The queued orders of a provider that are due, longest overdue first. */
export function listDueSubmissions(
  connection: Connection,
  providerId: number,
  now: number,
  limit: number,
): number[] {
  const rows = queries(connection).due.all({ providerId, now, limit });
  return rows.map(({ orderId }) => orderId);
}

/** Every queued order. */
export function listQueued(connection: Connection): OrderWithDelivery[] {
  return queries(connection).queued.all().map(toOrder).map(requireDelivery);
}

/** Orders whose attempt was started and has no outcome. */
export function listSending(connection: Connection): OrderWithDelivery[] {
  return queries(connection).sending.all().map(toOrder).map(requireDelivery);
}

export function listAttempts(connection: Connection, orderId: number): Attempt[] {
  return queries(connection).ofOrder.all({ orderId });
}

export function countAttempts(connection: Connection, orderId: number): number {
  return queries(connection).tries.get({ orderId })?.tries ?? 0;
}

/** A UNIQUE index refuses a second attempt while one is unfinished, or after one that may have been sent. */
export function insertAttempt(tx: Tx, orderId: number, startedAt: number): void {
  queries(tx).insert.run({ orderId, startedAt });
}

export function finishAttemptRow(
  tx: Tx,
  attempt: { orderId: number; outcome: AttemptOutcome; cause: string | null; finishedAt: number },
): void {
  const finished = queries(tx).finish.all(attempt);
  if (finished.length !== 1) throw new Error(`order ${attempt.orderId} is not being sent`);
}

/** Sets retries that are scheduled after `latest` to `latest`. */
export function clampSubmitSchedule(tx: Tx, latest: number): void {
  queries(tx).clampSubmitSchedule.run({ latest });
}

/** An order that must exist and have a provider. */
export function orderOf(connection: Connection, orderId: number): OrderWithDelivery {
  const order = findOrder(connection, String(orderId));
  if (!order) throw new Error(`there is no order ${orderId}`);
  return requireDelivery(order);
}

/** The order, which must have a provider. */
export function requireDelivery(order: Order): OrderWithDelivery {
  const { delivery } = order;
  if (!delivery) throw new Error(`order ${order.orderId} has no provider`);
  return { ...order, delivery };
}
