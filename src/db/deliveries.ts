// Submission attempts, and the orders that are queued or being sent.

import type { AttemptOutcome, Delivery } from "../domain/deliveries.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import { boolean, number, text } from "./table-definition.ts";
import { attempts, orders } from "./tables.ts";
import { findOrder, NO_TEST_ORDER, type Order } from "./orders.ts";

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
  /** The id of the server that makes it; null: of an earlier version, or none. */
  server: string | null;
  /** The route that it is made on. */
  providerId: number;
  providerService: string;
}

/** An attempt that was started and has no outcome. */
export interface SendingAttempt {
  orderId: number;
  attemptId: number;
  server: string | null;
  /** Whether its server has a lease. On SQLite none has. */
  isServerLive: boolean;
}

const ATTEMPTS = query({
  takes: { orderId: number },
  gives: fields(attempts),
  text: `SELECT ${select(attempts)} FROM placement_attempts
    WHERE order_id = :orderId ORDER BY attempt_id`,
});

const COUNT_ATTEMPTS = query({
  takes: { orderId: number, providerId: number, providerService: text },
  gives: { tries: number },
  within: ["orderId"],
  text: `SELECT count(*) AS "tries" FROM placement_attempts
    WHERE order_id = :orderId AND provider_id = :providerId AND provider_service = :providerService`,
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
    WHERE placement = 'queued' AND status = 'PENDING' AND ${NO_TEST_ORDER} ORDER BY order_id`,
});

const SENDING = query({
  takes: { now: number },
  gives: { ...fields(attempts, "orderId", "attemptId", "server"), isServerLive: boolean },
  text: `SELECT ${select(attempts, "orderId", "attemptId", "server")},
      EXISTS (SELECT 1 FROM servers
        WHERE servers.id = placement_attempts.server AND servers.lease_until > :now) AS "isServerLive"
    FROM orders JOIN placement_attempts
      ON placement_attempts.order_id = orders.order_id AND placement_attempts.outcome = 'sending'
    WHERE orders.placement = 'sending' ORDER BY orders.order_id`,
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

/** The numbers of every queued order; no test orders. */
export function listQueued(reader: Reader): number[] {
  return reader.all(QUEUED).map(({ orderId }) => orderId);
}

/** Orders that are queued, or being sent. */
export function countUnplaced(reader: Reader, now: number): number {
  return listQueued(reader).length + listSending(reader, now).length;
}

/** In the order of their orders. */
export function listSending(reader: Reader, now: number): SendingAttempt[] {
  return reader.all(SENDING, { now });
}

export function listAttempts(reader: Reader, orderId: number): Attempt[] {
  return reader.all(ATTEMPTS, { orderId });
}

/** Those on the order's route. */
export function countAttempts(reader: Reader, { orderId, delivery }: OrderWithDelivery): number {
  const { providerId, providerService } = delivery;
  return reader.one(COUNT_ATTEMPTS, { orderId, providerId, providerService })!.tries;
}

/** A UNIQUE index refuses a second attempt while one is unfinished, or after one that may have arrived. */
export function insertAttempt(
  tx: Tx,
  attempt: Omit<Attempt, "attemptId" | "outcome" | "cause" | "finishedAt">,
): Attempt {
  return tx.insert(attempts, { ...attempt, outcome: "sending" });
}

/** The attempt with that number, which must exist. */
export function attemptOf(reader: Reader, attemptId: number): Attempt {
  const attempt = reader.row(attempts.byKey, attemptId);
  if (!attempt) throw new Error(`there is no attempt ${attemptId}`);
  return attempt;
}

/** A trigger refuses to finish one that is finished. */
export function finishAttemptRow(
  tx: Tx,
  attempt: Pick<Attempt, "attemptId">,
  finished: Pick<Attempt, "outcome" | "cause" | "finishedAt">,
): void {
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
