// Submission of an order to its provider: an attempt is started, then finished with its outcome. docs/specification.md#delivery.
// The attempt `sending` is committed before the call, its outcome after it, in a later transaction.

import type { Actor } from "../domain/ledger.ts";
import { decideTransition } from "../domain/order-transitions.ts";
import { type Delivery, isExpired, type SubmissionResult } from "../domain/deliveries.ts";
import { POLL_BACKOFF_LIMIT_INTERVALS } from "../domain/polling.ts";
import { WEBHOOK_STEPS_MS } from "../domain/webhook-schedule.ts";
import type { Tx } from "../db/port.ts";
import { clampRequestSchedule, findOpenRequest } from "../db/order-requests.ts";
import { findByProviderOrder, clampPollSchedule } from "../db/polling.ts";
import { type Order, updateOrder } from "../db/orders.ts";
import {
  type Attempt,
  attemptOf,
  countAttempts,
  finishAttemptRow,
  clampSubmitSchedule,
  insertAttempt,
  orderOf,
  type OrderWithDelivery,
} from "../db/deliveries.ts";
import { updateLastSuccess, updateOutOfFunds } from "../db/providers.ts";
import { lacksDripFeed } from "../db/route-listing.ts";
import { clampWebhookSchedule } from "../db/webhook-deliveries.ts";
import type { Context } from "./context.ts";
import { cancelUnsent } from "./order-requests.ts";
import { type Onward, passedFrom, queueOn, type RetryTimes, routeAfter } from "./order-routes.ts";
import { applyTransition, type Cause, SYSTEM_ACTOR } from "./order-transitions.ts";

export interface StartAttempt {
  orderId: number;
  /** To which it is sent: an order that has gone on to another one meanwhile is left to that. */
  providerId: number;
  /** The id of the server that makes the attempt. */
  server: string;
  /** How long after its creation an order that was not sent is retried. */
  placeRetryMs: number;
}

/** With `send` the caller must now send the order, and report the outcome with finishAttempt. */
export type StartedAttempt = { tries: number } & (
  | { send: true; attemptId: number; order: OrderWithDelivery }
  /** `isGivenUp`: by this command. `passedTo`: the provider that is tried at once, because this one cannot serve the order. */
  | { send: false; isGivenUp: boolean; order: Order; passedTo: string | null }
);

/** Ignored by the provider, the fields of a drip-feed would make another order of it than the one that was charged. */
const NO_DRIP_FEED = {
  outcome: "refused",
  cause: "not asked: by its list the service has no drip-feed",
  outOfFunds: false,
} as const;

/**
 * Starts an attempt unless the order is no longer queued for that provider; one whose retries are over fails instead. A
 * provider that certainly cannot serve it is passed over as if it had refused it.
 */
export function startAttempt(tx: Tx, command: StartAttempt, context: Context): StartedAttempt {
  const order = orderOf(tx, command.orderId);
  const { placement, providerId } = order.delivery;
  if (order.status !== "PENDING" || placement !== "queued" || providerId !== command.providerId) {
    return { order, send: false, isGivenUp: false, passedTo: null, tries: 0 };
  }
  const tries = countAttempts(tx, order);
  if (isExpired(order, tries, context.now, command.placeRetryMs)) {
    const cause = { actor: SYSTEM_ACTOR, note: "the provider could not be reached" };
    const failed = failUnplaced(tx, order, "expired", cause, context);
    return { order: failed, send: false, isGivenUp: true, passedTo: null, tries };
  }
  // Most orders have no extra fields, and read nothing more.
  if (order.extra !== null && lacksDripFeed(tx, order)) {
    const onward = routeAfter(tx, order, NO_DRIP_FEED);
    const { order: begun, attemptId } = beginAttempt(tx, order, command.server, context);
    const times = { placeRetryMs: command.placeRetryMs, backoffMs: 0 };
    const attempt = attemptOf(tx, attemptId);
    const unplaced = endUnplaced(tx, begun, attempt, NO_DRIP_FEED, onward, times, context);
    const { order: passed, passedTo } = unplaced;
    return { order: passed, send: false, isGivenUp: false, passedTo, tries };
  }
  return { ...beginAttempt(tx, order, command.server, context), send: true, tries };
}

export interface FinishAttempt extends RetryTimes {
  orderId: number;
  attemptId: number;
  result: SubmissionResult;
}

export interface FinishedAttempt {
  order: Order;
  /** An earlier order to which the provider gave the same number: an error of the provider, for the log. */
  sameNumberAs: number | null;
  /**
   * Set when the attempt had another outcome before: it was marked unknown while its server was taken for dead. `applied`:
   * the order is settled by this one. `ignored`: it changes nothing.
   */
  late: "applied" | "ignored" | null;
  /** The provider that is tried at once, after a refusal or an attempt that was not sent; null: none. */
  passedTo: string | null;
}

/**
 * Records the outcome of a call. A refused order goes on to the next route of its service, or is refunded; an unknown one
 * waits for settlement. The same outcome once more changes nothing: a caller that does not know whether the first was
 * committed repeats it.
 */
export function finishAttempt(tx: Tx, command: FinishAttempt, context: Context): FinishedAttempt {
  const { result } = command;
  const order = orderOf(tx, command.orderId);
  // Before it is decided that the outcome is late: another server may be marking the attempt unknown.
  tx.lock(order.resellerAccount);
  const attempt = attemptOf(tx, command.attemptId);
  if (attempt.outcome !== "sending") return finishLate(tx, order, attempt, result, context);
  if (result.outcome === "refused" || result.outcome === "not_sent") {
    // Its queries come before the writes.
    const onward = routeAfter(tx, order, result);
    return endUnplaced(tx, order, attempt, result, onward, command, context);
  }
  const cause = "cause" in result ? result.cause : null;
  finishAttemptRow(tx, attempt, { outcome: result.outcome, cause, finishedAt: context.now });
  if (result.outcome === "accepted") return accept(tx, order, result, null, context);
  return { ...UNREMARKABLE, order: updateDelivery(tx, order, { placement: "unknown" }) };
}

/**
 * The attempt certainly did not place the order: it goes on to `onward`, or nowhere. If its reseller has asked meanwhile to
 * cancel it, it is cancelled instead of being sent again: docs/specification.md#order-requests.
 */
function endUnplaced(
  tx: Tx,
  order: OrderWithDelivery,
  attempt: Attempt,
  result: Extract<SubmissionResult, { outcome: "refused" | "not_sent" }>,
  onward: Onward | null,
  times: RetryTimes,
  context: Context,
): FinishedAttempt {
  const { outcome, cause } = result;
  const asked = findOpenRequest(tx, order.orderId, "cancel");
  finishAttemptRow(tx, attempt, { outcome, cause, finishedAt: context.now });
  if (!onward && outcome === "refused") return refuse(tx, order, result, context);
  noteFunds(tx, order, result, context);
  if (asked) {
    const unsent = { ...order, delivery: { ...order.delivery, placement: "queued" as const } };
    return { ...UNREMARKABLE, order: cancelUnsent(tx, unsent, asked, context) };
  }
  return { ...UNREMARKABLE, ...queueOn(tx, order, onward!, times, context) };
}

const UNREMARKABLE = { sameNumberAs: null, late: null, passedTo: null };

/**
 * The outcome of an attempt that is finished. While the order is unknown, the provider's own reply settles it, as an
 * operator would. It is not queued again, even if it was not sent or another route is left: whoever marked it unknown may
 * have promised that.
 */
function finishLate(
  tx: Tx,
  order: OrderWithDelivery,
  attempt: Attempt,
  result: SubmissionResult,
  context: Context,
): FinishedAttempt {
  const isUnknown = order.status === "PENDING" && order.delivery.placement === "unknown";
  const isOpen = isUnknown && attempt.outcome === "unknown";
  if (isOpen && result.outcome === "accepted") {
    const note = "the provider's reply came late: it accepted the order";
    return { ...accept(tx, order, result, note, context), late: "applied" };
  }
  if (isOpen && result.outcome === "refused") {
    return { ...refuse(tx, order, result, context), late: "applied" };
  }
  const isSame =
    attempt.outcome === result.outcome &&
    (result.outcome !== "accepted" || order.delivery.providerOrder === result.providerOrder);
  if (!isSame) return { ...UNREMARKABLE, order, late: "ignored" };
  return { ...UNREMARKABLE, order, passedTo: passedFrom(tx, order, attempt, context.now) };
}

function accept(
  tx: Tx,
  order: OrderWithDelivery,
  { providerOrder }: { providerOrder: string },
  note: string | null,
  context: Context,
): FinishedAttempt {
  const { providerId } = order.delivery;
  const duplicate = findByProviderOrder(tx, providerId, providerOrder, order.orderId);
  updateLastSuccess(tx, providerId, context.now);
  updateOutOfFunds(tx, providerId, null);
  const placed = applyAccepted(tx, order, providerOrder, SYSTEM_ACTOR, note, context);
  return { ...UNREMARKABLE, order: placed, sameNumberAs: duplicate ?? null };
}

function refuse(
  tx: Tx,
  order: OrderWithDelivery,
  result: Extract<SubmissionResult, { outcome: "refused" }>,
  context: Context,
): FinishedAttempt {
  noteFunds(tx, order, result, context);
  const note = `the provider refused it: ${result.cause}`;
  const failed = failUnplaced(tx, order, "refused", { actor: SYSTEM_ACTOR, note }, context);
  return { ...UNREMARKABLE, order: failed };
}

function noteFunds(
  tx: Tx,
  { delivery }: OrderWithDelivery,
  result: SubmissionResult,
  { now }: Context,
): void {
  const isOut = result.outcome === "refused" && result.outOfFunds;
  if (isOut) updateOutOfFunds(tx, delivery.providerId, now);
}

export interface ClampSchedules {
  pollIntervalMs: number;
  submitBackoffLimitMs: number;
}

/** After the clock was put back: no poll or retry is scheduled later than the longest backoff from now. */
export function clampSchedules(tx: Tx, command: ClampSchedules, context: Context): null {
  const { pollIntervalMs, submitBackoffLimitMs } = command;
  clampSubmitSchedule(tx, context.now + submitBackoffLimitMs);
  const latestPoll = context.now + pollIntervalMs * POLL_BACKOFF_LIMIT_INTERVALS;
  clampPollSchedule(tx, latestPoll);
  clampRequestSchedule(tx, context.now + submitBackoffLimitMs, latestPoll);
  clampWebhookSchedule(tx, context.now, context.now + WEBHOOK_STEPS_MS.at(-1)!);
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

/** The order is being sent from now on. `server`: who sends it. */
export function beginAttempt(
  tx: Tx,
  order: OrderWithDelivery,
  server: string | null,
  context: Context,
): { order: OrderWithDelivery; attemptId: number } {
  const delivery: Delivery = { ...order.delivery, placement: "sending", nextSubmitAt: null };
  const sending = { ...order, delivery };
  updateOrder(tx, sending);
  const { orderId } = order;
  const { providerId, providerService } = delivery;
  const { attemptId } = insertAttempt(tx, {
    orderId,
    server,
    startedAt: context.now,
    providerId,
    providerService,
  });
  return { order: sending, attemptId };
}

/** The order stays PENDING, only its delivery changes. */
function updateDelivery(tx: Tx, order: OrderWithDelivery, changes: Partial<Delivery>): Order {
  const changed: Order = { ...order, delivery: { ...order.delivery, ...changes } };
  updateOrder(tx, changed);
  return changed;
}
