// Submission of an order to its provider: an attempt is started, then finished with its outcome. docs/specification.md#delivery.
// The attempt `sending` is committed before the call, its outcome after it, in a later transaction.

import type { Actor } from "../domain/ledger.ts";
import { decideTransition } from "../domain/order-transitions.ts";
import {
  type Delivery,
  isExpired,
  nextSubmitAt,
  type SubmissionResult,
} from "../domain/deliveries.ts";
import { POLL_BACKOFF_LIMIT_INTERVALS } from "../domain/polling.ts";
import type { Tx } from "../db/port.ts";
import { findByProviderOrder, clampPollSchedule } from "../db/polling.ts";
import { type Order, updateOrder } from "../db/orders.ts";
import {
  countAttempts,
  finishAttemptRow,
  clampSubmitSchedule,
  insertAttempt,
  listQueued,
  listSending,
  orderOf,
  type OrderWithDelivery,
} from "../db/deliveries.ts";
import { updateLastSuccess, updateOutOfFunds } from "../db/providers.ts";
import type { Context } from "./context.ts";
import { applyTransition, type Cause, SYSTEM_ACTOR } from "./order-transitions.ts";

export interface StartAttempt {
  orderId: number;
  /** How long after its creation an order that was not sent is retried. */
  placeRetryMs: number;
}

/** With `send` the caller must now send the order, and report the outcome with finishAttempt. */
export type StartedAttempt = { tries: number } & (
  { send: true; order: OrderWithDelivery } | { send: false; order: Order }
);

/** Starts an attempt unless the order was cancelled meanwhile; one whose retries are over fails instead. */
export function startAttempt(tx: Tx, command: StartAttempt, context: Context): StartedAttempt {
  const order = orderOf(tx, command.orderId);
  if (order.status !== "PENDING" || order.delivery.placement !== "queued") {
    return { order, send: false, tries: 0 };
  }
  const tries = countAttempts(tx, order.orderId);
  if (isExpired(order, tries, context.now, command.placeRetryMs)) {
    const cause = { actor: SYSTEM_ACTOR, note: "the provider could not be reached" };
    const failed = failUnplaced(tx, order, "expired", cause, context);
    return { order: failed, send: false, tries };
  }
  return { order: beginAttempt(tx, order, context), send: true, tries };
}

export interface FinishAttempt {
  orderId: number;
  result: SubmissionResult;
  placeRetryMs: number;
  /** Backoff before the next try of an order that was not sent. */
  backoffMs: number;
}

export interface FinishedAttempt {
  order: Order;
  /** An earlier order to which the provider gave the same number: an error of the provider, for the log. */
  sameNumberAs: number | null;
}

/** Records the outcome of a call. A refused order is refunded; an unknown one waits for settlement. */
export function finishAttempt(tx: Tx, command: FinishAttempt, context: Context): FinishedAttempt {
  const { result, orderId } = command;
  const order = orderOf(tx, orderId);
  const { providerId } = order.delivery;
  const cause = "cause" in result ? result.cause : null;
  finishAttemptRow(tx, { orderId, outcome: result.outcome, cause, finishedAt: context.now });
  switch (result.outcome) {
    case "accepted": {
      const { providerOrder } = result;
      const duplicate = findByProviderOrder(tx, providerId, providerOrder, orderId);
      updateLastSuccess(tx, providerId, context.now);
      updateOutOfFunds(tx, providerId, null);
      const placed = applyAccepted(tx, order, providerOrder, SYSTEM_ACTOR, null, context);
      return { order: placed, sameNumberAs: duplicate ?? null };
    }
    case "refused": {
      if (result.outOfFunds) updateOutOfFunds(tx, providerId, context.now);
      const note = `the provider refused it: ${result.cause}`;
      const failed = failUnplaced(tx, order, "refused", { actor: SYSTEM_ACTOR, note }, context);
      return { order: failed, sameNumberAs: null };
    }
    case "not_sent": {
      const at = nextSubmitAt(order, context.now, command.backoffMs, command.placeRetryMs);
      return updateDelivery(tx, order, { placement: "queued", nextSubmitAt: at });
    }
    case "unknown":
      return updateDelivery(tx, order, { placement: "unknown" });
  }
}

export interface MarkInterruptedUnknown {
  cause: string;
}

/** After a restart: every attempt without an outcome is unknown, because its process died. Returns their orders. */
export function markInterruptedUnknown(
  tx: Tx,
  command: MarkInterruptedUnknown,
  context: Context,
): number[] {
  const sending = listSending(tx);
  tx.each(sending, (orderId) => markUnknown(tx, orderOf(tx, orderId), command.cause, context));
  return sending;
}

/**
 * After a restore: orders that are queued in the backup may have been sent since, so they are unknown, like those that
 * were being sent. Returns how many orders that are.
 */
export function markQueuedUnknown(
  tx: Tx,
  command: MarkInterruptedUnknown,
  context: Context,
): number {
  const orderIds = [...listQueued(tx), ...listSending(tx)];
  tx.each(orderIds, (orderId) => {
    const order = orderOf(tx, orderId);
    const isQueued = order.delivery.placement === "queued";
    markUnknown(tx, isQueued ? beginAttempt(tx, order, context) : order, command.cause, context);
  });
  return orderIds.length;
}

export interface ClampSchedules {
  pollIntervalMs: number;
  submitBackoffLimitMs: number;
}

/** After the clock was put back: no poll or retry is scheduled later than the longest backoff from now. */
export function clampSchedules(tx: Tx, command: ClampSchedules, context: Context): null {
  const { pollIntervalMs, submitBackoffLimitMs } = command;
  clampSubmitSchedule(tx, context.now + submitBackoffLimitMs);
  clampPollSchedule(tx, context.now + pollIntervalMs * POLL_BACKOFF_LIMIT_INTERVALS);
  return null;
}

/** The provider has the order: it is polled from now on. */
export function applyAccepted(
  tx: Tx,
  order: Order,
  providerOrder: string,
  actor: Actor,
  note: string | null,
  context: Context,
): Order {
  const { now } = context;
  const delivery = { placement: "placed" as const, nextPollAt: now, polledAt: now, providerOrder };
  const transition = decideTransition(order, "PROCESSING");
  return applyTransition(tx, order, transition, { actor, note }, context, { delivery });
}

/** The provider does not have the order and it will not be sent again: it fails and is refunded. */
export function failUnplaced(
  tx: Tx,
  order: OrderWithDelivery,
  placement: "refused" | "expired",
  cause: Cause,
  context: Context,
): Order {
  const transition = decideTransition(order, "FAILED");
  return applyTransition(tx, order, transition, cause, context, { delivery: { placement } });
}

function beginAttempt(tx: Tx, order: OrderWithDelivery, context: Context): OrderWithDelivery {
  const delivery: Delivery = { ...order.delivery, placement: "sending", nextSubmitAt: null };
  const sending = { ...order, delivery };
  updateOrder(tx, sending);
  insertAttempt(tx, order.orderId, context.now);
  return sending;
}

function markUnknown(tx: Tx, order: OrderWithDelivery, cause: string, context: Context): void {
  const { orderId } = order;
  finishAttemptRow(tx, { orderId, outcome: "unknown", cause, finishedAt: context.now });
  updateDelivery(tx, order, { placement: "unknown" });
}

/** The order stays PENDING, only its delivery changes. */
function updateDelivery(
  tx: Tx,
  order: OrderWithDelivery,
  changes: Partial<Delivery>,
): FinishedAttempt {
  const changed: Order = { ...order, delivery: { ...order.delivery, ...changes } };
  updateOrder(tx, changed);
  return { order: changed, sameNumberAs: null };
}
