// Records submissions of orders to providers. An attempt is committed as `sending` before the call to the provider, and
// its outcome in a later transaction, after the call. docs/specification/delivery.md#delivery.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import {
  type Delivery,
  isExpired,
  type SubmissionResult,
} from "../../domain/delivery/deliveries.ts";
import { retryMsAt } from "../../domain/providers/fund-holds.ts";
import { afterUnknown, PAUSED_RETRY_MS } from "../../domain/providers/provider-pauses.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { nextRoute } from "../../domain/catalogue/service-routes.ts";
import { POLL_BACKOFF_LIMIT_INTERVALS } from "../../domain/delivery/polling.ts";
import { WEBHOOK_STEPS_MS } from "../../domain/webhooks/webhook-schedule.ts";
import { type Need, needNumbers, needRow, type Tx } from "../../db/port/port.ts";
import { clampRequestSchedule, findOpenRequest } from "../../db/orders/order-requests.ts";
import { findByProviderOrder, clampPollSchedule } from "../../db/delivery/polling.ts";
import { type Order, updateOrder } from "../../db/orders/orders.ts";
import {
  type Attempt,
  getAttempt,
  countAttempts,
  finishAttemptRow,
  clampSubmitSchedule,
  insertAttempt,
  getOrder,
  type OrderWithDelivery,
} from "../../db/delivery/deliveries.ts";
import {
  noteAnswered,
  getProvider,
  updateLastSuccess,
  updateOutOfFunds,
} from "../../db/providers/providers.ts";
import { readTriedRoutes } from "../../db/catalogue/service-routes.ts";
import { attempts } from "../../db/tables/delivery.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { orderEvents, orders } from "../../db/tables/orders.ts";
import { providers } from "../../db/tables/providers.ts";
import { lacksDripFeed } from "../../db/catalogue/route-listing.ts";
import { clampMailSchedule } from "../../db/mails/mails.ts";
import { clampPaymentSchedule } from "../../db/payments/payments.ts";
import { clampWebhookSchedule } from "../../db/webhooks/webhook-deliveries.ts";
import type { Context } from "../batch/context.ts";
import { cancelUnsent } from "../orders/order-requests.ts";
import { exceedsHold, isHeldAfter, pauseForFunds } from "./fund-holds.ts";
import { type Onward, passedFrom, queueOn, type RetryTimes, routeAfter } from "./order-routes.ts";
import { applyTransition, type Cause, SYSTEM_ACTOR } from "../orders/order-transitions.ts";

export interface StartAttempt {
  orderId: number;
  /** The provider to call. An order that has moved to another provider is skipped. */
  providerId: number;
  /** The id of the server that makes the attempt. */
  server: string;
  /** Time from an order's creation during which it is retried if it was not sent. */
  placeRetryMs: number;
}

/** With `send`, the caller must now send the order and report the outcome with finishAttempt. */
export type StartedAttempt = { tries: number } & (
  | { send: true; attemptId: number; order: OrderWithDelivery }
  /**
   * `isGivenUp`: this command set the order to FAILED. `passedTo`: the provider that is tried at once instead of this
   * one.
   */
  | { send: false; isGivenUp: boolean; order: Order; passedTo: string | null }
);

/**
 * The outcome for a drip-feed order when the provider's service has no drip-feed. A provider that ignored the fields
 * would deliver a different order from the one that was charged.
 */
const NO_DRIP_FEED = {
  outcome: "refused",
  cause: "not sent: the provider's list says the service has no drip-feed",
  outOfFunds: false,
} as const;

/**
 * Starts an attempt if the order is still queued for that provider. An order whose time for retries is over fails
 * instead. A provider that certainly cannot deliver the order is treated as if it had refused it.
 */
export function startAttempt(tx: Tx, command: StartAttempt, context: Context): StartedAttempt {
  const order = getOrder(tx, command.orderId);
  const { placement, providerId } = order.delivery;
  if (order.status !== "PENDING" || placement !== "queued" || providerId !== command.providerId) {
    return { order, send: false, isGivenUp: false, passedTo: null, tries: 0 };
  }
  const tries = countAttempts(tx, order);
  const provider = getProvider(tx, providerId);
  const retryMs = retryMsAt(provider, order, command.placeRetryMs);
  if (isExpired(order, tries, context.now, retryMs) && provider.pausedBy !== "funds") {
    const cause = { actor: SYSTEM_ACTOR, note: "the provider could not be reached" };
    const failed = failUnplaced(tx, order, "expired", cause, context);
    return { order: failed, send: false, isGivenUp: true, passedTo: null, tries };
  }
  if (provider.pausedAt !== null) {
    return { ...awaitPause(tx, order, command.placeRetryMs, context), send: false, tries };
  }
  // Most orders have no extra fields: nothing more is read for them.
  if (order.extra !== null && lacksDripFeed(tx, order)) {
    const onward = routeAfter(tx, order, NO_DRIP_FEED, context.now);
    const { order: begun, attemptId } = beginAttempt(tx, order, command.server, context);
    const times = { placeRetryMs: command.placeRetryMs, backoffMs: 0 };
    const attempt = getAttempt(tx, attemptId);
    const unplaced = endUnplaced(tx, begun, attempt, NO_DRIP_FEED, onward, times, context);
    const { order: passed, passedTo } = unplaced;
    return { order: passed, send: false, isGivenUp: false, passedTo, tries };
  }
  return { ...beginAttempt(tx, order, command.server, context), send: true, tries };
}

export function needsOfStart({ orderId, providerId }: StartAttempt): Need[] {
  return [
    needRow(orders.byKey, orderId),
    needRow(providers.byKey, providerId),
    needNumbers(attempts),
  ];
}

/**
 * Handles an order whose provider is paused: it takes the next route, waits or expires, even if it was never tried. If
 * too much already waits there for funds, the order is refused.
 */
function awaitPause(
  tx: Tx,
  order: OrderWithDelivery,
  placeRetryMs: number,
  context: Context,
): { order: Order; isGivenUp: boolean; passedTo: string | null } {
  const { routes, current } = readTriedRoutes(tx, order);
  const onward = nextRoute(routes, current);
  const { providerId, nextSubmitAt } = order.delivery;
  const provider = getProvider(tx, providerId);
  const retryMs = retryMsAt(provider, order, placeRetryMs);
  const isNew = nextSubmitAt === order.createdAt;
  const isOver =
    isExpired(order, 1, context.now, retryMs) ||
    // Counted once for each order, because the time to count grows with the number of orders that wait.
    (isNew && exceedsHold(tx, order, providerId, context.now));
  if (!onward?.isImmediate && isOver) {
    const note =
      provider.pausedBy === "funds"
        ? "our balance at the provider was too low"
        : "submissions to the provider were paused";
    const failed = failUnplaced(tx, order, "expired", { actor: SYSTEM_ACTOR, note }, context);
    return { order: failed, isGivenUp: true, passedTo: null };
  }
  const next = onward?.isImmediate ? onward : { route: order.delivery, isImmediate: false };
  const times = { placeRetryMs, backoffMs: PAUSED_RETRY_MS };
  return { ...queueOn(tx, order, next, times, context), isGivenUp: false };
}

export interface FinishAttempt extends RetryTimes {
  orderId: number;
  attemptId: number;
  /** Number of unknown outcomes in a row after which the provider is paused; 0 or absent: never. */
  pauseAfter?: number;
  result: SubmissionResult;
}

export interface FinishedAttempt {
  order: Order;
  /** An earlier order that has the same number from the provider, for the log: the provider made an error. */
  sameNumberAs: number | null;
  /**
   * Set when the attempt already had another outcome: it was marked unknown while its server was regarded as dead.
   * `applied`: this outcome settled the order. `ignored`: it changed nothing.
   */
  late: "applied" | "ignored" | null;
  /** The provider that is tried at once, after a refusal or an attempt that was not sent. */
  passedTo: string | null;
  /** Set when this outcome paused the provider: the number of unknown outcomes in a row. */
  pausedAfter?: number;
  /** Set when the provider lacks funds and is paused until it has some. `isFirst`: this outcome paused it. */
  held?: { isFirst: boolean };
}

/**
 * Records the outcome of a call. A refused order goes on to the next route of its service, or is refunded. An unknown
 * one waits for settlement. Recording the same outcome again changes nothing, so a caller may repeat the command when
 * it does not know whether it was committed.
 */
export function finishAttempt(tx: Tx, command: FinishAttempt, context: Context): FinishedAttempt {
  const { result } = command;
  const order = getOrder(tx, command.orderId);
  // Locked before deciding whether the outcome is late: another server may be marking the attempt unknown.
  tx.lock(order.resellerAccount);
  const attempt = getAttempt(tx, command.attemptId);
  if (attempt.outcome !== "sending") return finishLate(tx, order, attempt, result, context);
  if (result.outcome === "refused" || result.outcome === "not_sent") {
    // These query, so they are called before the first write.
    const isHeld = isHeldAfter(tx, order, result, context.now);
    const ended = isHeld ? { outcome: "not_sent" as const, cause: result.cause } : result;
    const onward = routeAfter(tx, order, ended, context.now, isHeld);
    const held = isHeld ? { held: { isFirst: pauseForFunds(tx, order, context.now) } } : {};
    return { ...endUnplaced(tx, order, attempt, ended, onward, command, context), ...held };
  }
  const paused = result.outcome === "unknown" ? noteUnknown(tx, order, command, context) : {};
  const cause = "cause" in result ? result.cause : null;
  finishAttemptRow(tx, attempt, { outcome: result.outcome, cause, finishedAt: context.now });
  if (result.outcome === "accepted") return accept(tx, order, result, null, context);
  const unknown = updateDelivery(tx, order, { placement: "unknown" });
  return { ...PLAIN_OUTCOME, ...paused, order: unknown };
}

export function needsOfFinish({ orderId, attemptId }: FinishAttempt): Need[] {
  return [
    needRow(orders.byKey, orderId),
    needRow(attempts.byKey, attemptId),
    needNumbers(orderEvents),
  ];
}

/** Counts the unknown outcome, and pauses the provider when the limit is reached. */
function noteUnknown(
  tx: Tx,
  { delivery: { providerId } }: OrderWithDelivery,
  { pauseAfter = 0 }: FinishAttempt,
  { now }: Context,
): { pausedAfter?: number } {
  if (pauseAfter === 0 || providerId === SANDBOX_PROVIDER) return {};
  // Several servers may count at the same time.
  tx.lock(CATALOGUE_LOCK);
  const before = getProvider(tx, providerId);
  const after = tx.update(providers, before, afterUnknown(before, pauseAfter, now));
  const isPaused = before.pausedAt === null && after.pausedAt !== null;
  return isPaused ? { pausedAfter: after.unknownInRow } : {};
}

/**
 * Ends an attempt that certainly did not place the order. The order goes on to `onward`, or is refunded when `onward`
 * is null. With an open request to cancel it is cancelled instead of being sent again:
 * docs/specification/orders.md#order-requests.
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
  noteRefusal(tx, order, result, context);
  const queued = queueOn(tx, order, onward!, times, context);
  if (!asked) return { ...PLAIN_OUTCOME, ...queued };
  // Queued first, so that the row is the same whether the request came before or after this outcome.
  return { ...PLAIN_OUTCOME, order: cancelUnsent(tx, queued.order, asked, context) };
}

const PLAIN_OUTCOME = { sameNumberAs: null, late: null, passedTo: null };

/**
 * Handles the outcome of an attempt that is already finished. While the order is unknown, the provider's reply settles
 * it, as an operator would. The order is not queued again, even if it was not sent or has another route: the operator
 * may rely on it not being sent.
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
  // A refused order that waits for funds was recorded as not sent.
  const isHeld =
    attempt.outcome === "not_sent" && result.outcome === "refused" && result.outOfFunds;
  const isSame =
    isHeld ||
    (attempt.outcome === result.outcome &&
      (result.outcome !== "accepted" || order.delivery.providerOrder === result.providerOrder));
  if (!isSame) return { ...PLAIN_OUTCOME, order, late: "ignored" };
  return { ...PLAIN_OUTCOME, order, passedTo: passedFrom(tx, order, attempt, context.now) };
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
  noteAnswered(tx, providerId);
  const placed = applyAccepted(tx, order, providerOrder, SYSTEM_ACTOR, note, context);
  return { ...PLAIN_OUTCOME, order: placed, sameNumberAs: duplicate ?? null };
}

function refuse(
  tx: Tx,
  order: OrderWithDelivery,
  result: Extract<SubmissionResult, { outcome: "refused" }>,
  context: Context,
): FinishedAttempt {
  noteRefusal(tx, order, result, context);
  const note = `the provider refused it: ${result.cause}`;
  const failed = failUnplaced(tx, order, "refused", { actor: SYSTEM_ACTOR, note }, context);
  return { ...PLAIN_OUTCOME, order: failed };
}

function noteRefusal(
  tx: Tx,
  { delivery }: OrderWithDelivery,
  result: SubmissionResult,
  { now }: Context,
): void {
  if (result.outcome !== "refused") return;
  noteAnswered(tx, delivery.providerId);
  if (result.outOfFunds) updateOutOfFunds(tx, delivery.providerId, now);
}

export interface ClampSchedules {
  pollIntervalMs: number;
  submitBackoffLimitMs: number;
}

/** Corrects all schedules after the clock was set back: nothing stays later than the longest backoff from now. */
export function clampSchedules(tx: Tx, command: ClampSchedules, context: Context): null {
  const { pollIntervalMs, submitBackoffLimitMs } = command;
  clampSubmitSchedule(tx, context.now + submitBackoffLimitMs);
  const latestPoll = context.now + pollIntervalMs * POLL_BACKOFF_LIMIT_INTERVALS;
  clampPollSchedule(tx, latestPoll);
  clampRequestSchedule(tx, context.now + submitBackoffLimitMs, latestPoll);
  clampWebhookSchedule(tx, context.now, context.now + WEBHOOK_STEPS_MS.at(-1)!);
  clampMailSchedule(tx, context.now);
  clampPaymentSchedule(tx, context.now);
  return null;
}

/** Records that the provider has the order, which is polled from now on. */
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

/** Fails and refunds an order that the provider does not have and that will not be sent again. */
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

/** Begins an attempt: the order is marked as being sent. `server`: the id of the server that sends it. */
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

/** Changes only the delivery: the order stays PENDING. */
function updateDelivery(tx: Tx, order: OrderWithDelivery, changes: Partial<Delivery>): Order {
  const changed: Order = { ...order, delivery: { ...order.delivery, ...changes } };
  updateOrder(tx, changed);
  return changed;
}
