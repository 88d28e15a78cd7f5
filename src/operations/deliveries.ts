// Placing an order with its provider: an attempt begun, then its outcome; and what an operator settles. Contract 3.
// The row `sending` is committed before the call, its outcome after it, in a later transaction.

import { Refusal } from "../domain/errors.ts";
import type { Actor } from "../domain/ledger.ts";
import { decideMove } from "../domain/orders.ts";
import {
  isExpired,
  nextPlaceAt,
  type PlacementResult,
  refuseSettlement,
} from "../domain/deliveries.ts";
import { CHECK_PAUSE_LIMIT_INTERVALS } from "../domain/polling.ts";
import type { Tx } from "../db/connection.ts";
import { findByProviderOrder, hurryChecks } from "../db/polling.ts";
import { type Order, updateOrder } from "../db/orders.ts";
import {
  countAttempts,
  finishAttemptRow,
  hurryQueued,
  insertAttempt,
  listQueued,
  listSending,
  orderOf,
} from "../db/deliveries.ts";
import { updateLastSuccess, updateOutOfFunds } from "../db/providers.ts";
import type { Context } from "./context.ts";
import { applyMove, SERVICE_ITSELF, type Standing } from "./order-transitions.ts";
import { requireOrder } from "./orders.ts";

export interface StartAttempt {
  orderId: number;
  /** How long after its creation an order that was not sent is tried again. */
  placeRetryMs: number;
}

export interface StartedAttempt {
  order: Order;
  /** Whether the caller must now send it, and report what came of it with finishAttempt. */
  send: boolean;
  /** How often it was tried before. */
  tries: number;
}

/** Begins an attempt, unless the order was cancelled meanwhile or its time is over: then it fails here. */
export function startAttempt(tx: Tx, command: StartAttempt, context: Context): StartedAttempt {
  const order = orderOf(tx, command.orderId);
  if (order.status !== "PENDING" || order.placement !== "queued") {
    return { order, send: false, tries: 0 };
  }
  const tries = countAttempts(tx, order.orderId);
  if (isExpired(order, tries, context.now, command.placeRetryMs)) {
    const cause = { actor: SERVICE_ITSELF, note: "the provider could not be reached" };
    const standing = { placement: "expired" as const };
    const failed = applyMove(tx, order, decideMove(order, "FAILED"), cause, context, standing);
    return { order: failed, send: false, tries };
  }
  return { order: beginAttempt(tx, order, context), send: true, tries };
}

export interface FinishAttempt {
  orderId: number;
  result: PlacementResult;
  placeRetryMs: number;
  /** How long to wait before the next try of an order that was not sent. */
  pauseMs: number;
}

export interface FinishedAttempt {
  order: Order;
  /** An older order to which the provider gave the same number: nonsense, for the log. */
  sameNumberAs: number | null;
}

/** Writes down what a call upstream came to. A refusal refunds; what is unknown waits for the operator. */
export function finishAttempt(tx: Tx, command: FinishAttempt, context: Context): FinishedAttempt {
  const { result, orderId } = command;
  const order = orderOf(tx, orderId);
  const providerId = order.providerId!;
  const cause = "cause" in result ? result.cause : null;
  finishAttemptRow(tx, { orderId, outcome: result.outcome, cause, finishedAt: context.now });
  switch (result.outcome) {
    case "accepted": {
      const { providerOrder } = result;
      const twin = findByProviderOrder(tx, providerId, providerOrder, orderId);
      updateLastSuccess(tx, providerId, context.now);
      updateOutOfFunds(tx, providerId, null);
      const placed = applyPlaced(tx, order, providerOrder, SERVICE_ITSELF, null, context);
      return { order: placed, sameNumberAs: twin ?? null };
    }
    case "refused": {
      if (result.outOfFunds) updateOutOfFunds(tx, providerId, context.now);
      const why = { actor: SERVICE_ITSELF, note: `the provider refused it: ${result.cause}` };
      const standing = { placement: "refused" as const };
      const failed = applyMove(tx, order, decideMove(order, "FAILED"), why, context, standing);
      return { order: failed, sameNumberAs: null };
    }
    case "not_sent": {
      const at = nextPlaceAt(order, context.now, command.pauseMs, command.placeRetryMs);
      return restand(tx, order, { placement: "queued", nextPlaceAt: at });
    }
    case "unknown":
      return restand(tx, order, { placement: "unknown" });
  }
}

export interface AbandonAttempts {
  cause: string;
}

/** Makes every attempt without an outcome unknown: nobody is left who could hear of it. Returns their orders. */
export function abandonAttempts(tx: Tx, command: AbandonAttempts, context: Context): number[] {
  const sending = listSending(tx);
  for (const order of sending) {
    const { orderId } = order;
    const { cause } = command;
    finishAttemptRow(tx, { orderId, outcome: "unknown", cause, finishedAt: context.now });
    restand(tx, order, { placement: "unknown" });
  }
  return sending.map(({ orderId }) => orderId);
}

/**
 * After a restore: what waited in the backup may have been sent since, so it is unknown like what was being sent.
 * Returns how many orders that are.
 */
export function doubtQueued(tx: Tx, command: AbandonAttempts, context: Context): number {
  for (const order of listQueued(tx)) beginAttempt(tx, order, context);
  return abandonAttempts(tx, command, context).length;
}

export interface HurryFulfilment {
  pollIntervalMs: number;
  placePauseLimitMs: number;
}

/** After the clock went back: nothing waits longer than a pause can be. */
export function hurryFulfilment(tx: Tx, command: HurryFulfilment, context: Context): null {
  const { pollIntervalMs, placePauseLimitMs } = command;
  hurryQueued(tx, context.now + placePauseLimitMs);
  hurryChecks(tx, context.now + pollIntervalMs * CHECK_PAUSE_LIMIT_INTERVALS);
  return null;
}

export interface SettleOrder {
  /** Either id of the order. */
  id: string;
  /** The number that the provider gave it; null: the provider never had it. */
  providerOrder: string | null;
  actor: Actor;
}

/**
 * The operator's word on an order whose placement is unknown: followed from now on, or failed and refunded.
 * Refuses: order_not_found, order_not_unknown, provider_order_taken.
 */
export function settleOrder(tx: Tx, command: SettleOrder, context: Context): Order {
  const { providerOrder, actor } = command;
  const order = requireOrder(tx, command.id);
  refuseSettlement(order);
  if (providerOrder === null) {
    const cause = { actor, note: "settled: it was not placed" };
    const standing = { placement: "refused" as const };
    return applyMove(tx, order, decideMove(order, "FAILED"), cause, context, standing);
  }
  const twin = findByProviderOrder(tx, order.providerId!, providerOrder, order.orderId);
  if (twin !== undefined) throw new Refusal("provider_order_taken", { orderId: twin });
  return applyPlaced(tx, order, providerOrder, actor, "settled: it was placed", context);
}

/** From here on the order is followed, beginning at once. */
function applyPlaced(
  tx: Tx,
  order: Order,
  providerOrder: string,
  actor: Actor,
  note: string | null,
  context: Context,
): Order {
  const { now } = context;
  const placed = { placement: "placed" as const, nextCheckAt: now, checkedAt: now, providerOrder };
  const move = decideMove(order, "PROCESSING");
  return applyMove(tx, order, move, { actor, note }, context, placed);
}

function beginAttempt(tx: Tx, order: Order, context: Context): Order {
  const sending: Order = { ...order, placement: "sending", nextPlaceAt: null };
  updateOrder(tx, sending);
  insertAttempt(tx, order.orderId, context.now);
  return sending;
}

/** The order stays PENDING and only its placement changes. */
function restand(tx: Tx, order: Order, standing: Standing): FinishedAttempt {
  const changed: Order = { ...order, ...standing };
  updateOrder(tx, changed);
  return { order: changed, sameNumberAs: null };
}
