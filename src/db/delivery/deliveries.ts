// Submission attempts, and the orders that are queued or in flight.

import type { AttemptOutcome, Delivery } from "../../domain/delivery/deliveries.ts";
import type { Reader, Tx } from "../port/port.ts";
import { byDialect, fields, isOneOf, query, select, statement } from "../port/query.ts";
import { boolean, number, numbers, text } from "../port/table-definition.ts";
import { attempts } from "../tables/delivery.ts";
import { orders } from "../tables/orders.ts";
import { findOrder, LIVE_ORDER_CONDITION, type Order } from "../orders/orders.ts";

/** An order that has a provider. */
export interface OrderWithDelivery extends Order {
  delivery: Delivery;
}

export interface Attempt {
  attemptId: number;
  orderId: number;
  outcome: AttemptOutcome;
  /** Shown only to the operator. */
  cause: string | null;
  startedAt: number;
  finishedAt: number | null;
  /** The id of the server that makes the attempt, if it has one. */
  server: string | null;
  /** The route on which it is made, with `providerService`. */
  providerId: number;
  providerService: string;
}

/** An attempt that was started and has no outcome yet. */
export interface SendingAttempt {
  orderId: number;
  attemptId: number;
  server: string | null;
  /** Whether its server has a lease. Always false on SQLite. */
  isServerLive: boolean;
}

const ATTEMPTS = query({
  parameters: { orderId: number },
  columns: fields(attempts),
  text: `SELECT ${select(attempts)} FROM attempts
    WHERE order_id = :orderId ORDER BY attempt_id`,
});

const COUNT_ATTEMPTS = query({
  parameters: { orderId: number, providerId: number, providerService: text },
  columns: { tries: number },
  restrictedBy: ["orderId"],
  text: `SELECT count(*) AS "tries" FROM attempts
    WHERE order_id = :orderId AND provider_id = :providerId AND provider_service = :providerService`,
});

// Status and placement are literals, so that the partial indexes can be used.
const DUE = query({
  parameters: { providerId: number, now: number, limit: number },
  columns: fields(orders, "orderId"),
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE provider_id = :providerId AND placement = 'queued' AND status = 'PENDING' AND next_submit_at <= :now
    ORDER BY next_submit_at, order_id LIMIT :limit`,
});

// `+reseller_account` prevents grouping in the order of an index, which would read every order of each reseller.
const DUE_ON_PROBATION = query({
  parameters: { providerId: number, now: number, limit: number },
  columns: fields(orders, "orderId"),
  text: `SELECT ${select(orders, "orderId")} FROM orders LEFT JOIN (
      SELECT +reseller_account AS account, count(*) AS unknown_orders FROM orders
      WHERE provider_id = :providerId AND placement = 'unknown' AND status = 'PENDING' GROUP BY 1
    ) AS resellers ON resellers.account = orders.reseller_account
    WHERE orders.provider_id = :providerId AND orders.placement = 'queued' AND orders.status = 'PENDING'
      AND orders.next_submit_at <= :now
    ORDER BY coalesce(unknown_orders, 0), orders.next_submit_at, orders.order_id LIMIT :limit`,
});

// An order without attempts is due at its creation, even if the caller's clock is behind.
const ATTEMPTED = query({
  parameters: { orderIds: numbers, now: number },
  columns: fields(orders, "orderId"),
  text: byDialect(
    (dialect) => `SELECT ${select(orders, "orderId")} FROM orders
      WHERE ${isOneOf("order_id", ":orderIds", dialect)} AND NOT (status = 'PENDING'
        AND (placement = 'sending' OR (placement = 'queued' AND (next_submit_at <= :now OR next_submit_at = created_at))))`,
  ),
});

const QUEUED = query({
  columns: fields(orders, "orderId"),
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE placement = 'queued' AND status = 'PENDING' AND ${LIVE_ORDER_CONDITION} ORDER BY order_id`,
});

const SENDING = query({
  columns: { ...fields(attempts, "orderId", "attemptId", "server"), isServerLive: boolean },
  text: `SELECT ${select(attempts, "orderId", "attemptId", "server")},
      EXISTS (SELECT 1 FROM servers WHERE servers.id = attempts.server) AS "isServerLive"
    FROM orders JOIN attempts
      ON attempts.order_id = orders.order_id AND attempts.outcome = 'sending'
    WHERE orders.placement = 'sending' ORDER BY orders.order_id`,
});

const CLAMP_SUBMIT_SCHEDULE = statement({
  parameters: { latest: number },
  writes: [orders],
  text: `UPDATE orders SET next_submit_at = :latest
    WHERE placement = 'queued' AND status = 'PENDING' AND next_submit_at > :latest`,
});

/** The numbers of a provider's queued orders that are due, most overdue first. */
export function listDueSubmissions(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): number[] {
  return reader.all(DUE, { providerId, now, limit }).map(({ orderId }) => orderId);
}

/**
 * Lists due orders of a provider on probation, which gets one order at a time. Resellers with the fewest unknown orders
 * there come first, so that one reseller's bad orders do not delay other resellers.
 */
export function listDueOnProbation(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): number[] {
  return reader.all(DUE_ON_PROBATION, { providerId, now, limit }).map(({ orderId }) => orderId);
}

/** Returns the given orders without those that are being sent or due to be sent. */
export function listAttempted(
  reader: Reader,
  orderIds: readonly number[],
  now: number,
): OrderWithDelivery[] {
  const attempted = reader.all(ATTEMPTED, { orderIds, now });
  return attempted.map(({ orderId }) => getOrder(reader, orderId));
}

/** The numbers of all queued orders, without test orders. */
export function listQueued(reader: Reader): number[] {
  return reader.all(QUEUED).map(({ orderId }) => orderId);
}

/** Counts the orders that are queued or being sent. */
export function countUnplaced(reader: Reader): number {
  return listQueued(reader).length + listSending(reader).length;
}

/** All attempts without an outcome, by order number. */
export function listSending(reader: Reader): SendingAttempt[] {
  return reader.all(SENDING);
}

export function listAttempts(reader: Reader, orderId: number): Attempt[] {
  return reader.all(ATTEMPTS, { orderId });
}

/** Counts the order's attempts on its present route. */
export function countAttempts(reader: Reader, { orderId, delivery }: OrderWithDelivery): number {
  const { providerId, providerService } = delivery;
  return reader.one(COUNT_ATTEMPTS, { orderId, providerId, providerService })!.tries;
}

/** Inserts an attempt. A UNIQUE index refuses it if another attempt is unfinished or may have arrived. */
export function insertAttempt(
  tx: Tx,
  attempt: Omit<Attempt, "attemptId" | "outcome" | "cause" | "finishedAt">,
): Attempt {
  return tx.insert(attempts, { ...attempt, outcome: "sending" });
}

/** Returns the attempt with that number, which must exist. */
export function getAttempt(reader: Reader, attemptId: number): Attempt {
  const attempt = reader.row(attempts.byKey, attemptId);
  if (!attempt) throw new Error(`there is no attempt ${attemptId}`);
  return attempt;
}

/** Records the outcome of an attempt. A trigger refuses to finish an attempt twice. */
export function finishAttemptRow(
  tx: Tx,
  attempt: Pick<Attempt, "attemptId">,
  finished: Pick<Attempt, "outcome" | "cause" | "finishedAt">,
): void {
  tx.update(attempts, attempt, finished);
}

/** Moves retries that are scheduled after `latest` back to `latest`. */
export function clampSubmitSchedule(tx: Tx, latest: number): void {
  tx.run(CLAMP_SUBMIT_SCHEDULE, { latest });
}

/** Returns the order with that number, which must exist and have a provider. */
export function getOrder(reader: Reader, orderId: number): OrderWithDelivery {
  const order = findOrder(reader, String(orderId));
  if (!order) throw new Error(`there is no order ${orderId}`);
  return requireDelivery(order);
}

/** Returns the order with its delivery. Throws if it has no provider. */
export function requireDelivery(order: Order): OrderWithDelivery {
  const { delivery } = order;
  if (!delivery) throw new Error(`order ${order.orderId} has no provider`);
  return { ...order, delivery };
}
