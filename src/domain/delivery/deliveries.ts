// Delivery: the states of an order at its provider, and the outcomes of submissions.
// docs/specification/delivery.md#delivery-outcomes. An order that was or may have been sent to a provider is never sent
// there again. Only an order that was certainly not sent is retried. After a refusal it may go to another provider
// (service-routes.ts).

import { Refusal, refusal } from "../values/error-table.ts";
import type { OrderStatus } from "../orders/order-statuses.ts";

export const PLACEMENTS = [
  "manual",
  "queued",
  "sending",
  "placed",
  "refused",
  "expired",
  "unknown",
] as const;
export type Placement = (typeof PLACEMENTS)[number];

/** The state of an order at its provider. Orders of manual services have no delivery. */
export interface Delivery {
  providerId: number;
  /** The id of the service at the provider. */
  providerService: string;
  placement: Exclude<Placement, "manual">;
  /** The number that the provider gave the order; null until it is placed. */
  providerOrder: string | null;
  /** The status that the provider reported last. */
  reported: OrderStatus | null;
  /** When a queued order is submitted next. */
  nextSubmitAt: number | null;
  /** When a placed order is polled next; null when it ended more than LATE_POLL_MS ago. */
  nextPollAt: number | null;
  /** When the provider last reported its status. */
  polledAt: number | null;
  /** When a report or the operator last changed the order. */
  changedAt: number | null;
}

/** Returns the delivery of a new order: queued, due immediately. */
export function newDelivery(providerId: number, providerService: string, now: number): Delivery {
  return {
    providerId,
    providerService,
    placement: "queued",
    providerOrder: null,
    reported: null,
    nextSubmitAt: now,
    nextPollAt: null,
    polledAt: null,
    changedAt: null,
  };
}

export function placementOf(delivery: Pick<Delivery, "placement"> | null): Placement {
  return delivery?.placement ?? "manual";
}

export type AttemptOutcome = "sending" | "accepted" | "refused" | "not_sent" | "unknown";

/**
 * Returns whether an attempt without an outcome was interrupted: it was made by another server than `server`, the
 * caller, and that server does not run any more.
 */
export function isInterrupted(
  attempt: { server: string | null; isServerLive: boolean },
  server: string,
): boolean {
  return attempt.server !== server && !attempt.isServerLive;
}

/** The cause of an attempt that a restore ended: what happened to the order after the backup is not known. */
export const RESTORED_CAUSE = "restored from a backup: it may have been sent since";

/** The outcome of one call to the provider. `cause` is for the operator, with the provider's key masked. */
export type SubmissionResult =
  | { outcome: "accepted"; providerOrder: string }
  | { outcome: "refused"; cause: string; outOfFunds: boolean }
  /**
   * `retryInMs`: when to try again, if the protocol says so. `providerNotCalled`: the attempt ended before the call, so the
   * provider is not at fault.
   */
  | { outcome: "not_sent"; cause: string; retryInMs?: number; providerNotCalled?: true }
  | { outcome: "unknown"; cause: string };

/** Possible outcomes of a submission. `expired`: the order was retried for too long and is not sent any more. */
export const SUBMISSION_OUTCOMES = [
  "accepted",
  "refused",
  "not_sent",
  "unknown",
  "expired",
] as const satisfies readonly (SubmissionResult["outcome"] | "expired")[];
export type SubmissionOutcome = (typeof SUBMISSION_OUTCOMES)[number];

/** A provider's number for an order: a positive whole number, as text. */
const PROVIDER_ORDER = /^[1-9][0-9]{0,18}$/;

export function isProviderOrder(text: string): boolean {
  return PROVIDER_ORDER.test(text);
}

/**
 * Returns when an order that was not sent is retried: after the backoff, at the latest when its time for retries ends.
 */
export function nextSubmitAt(
  order: { createdAt: number },
  now: number,
  backoffMs: number,
  retryMs: number,
): number {
  return Math.max(now, Math.min(now + backoffMs, order.createdAt + retryMs));
}

/** Returns whether a queued order has expired. `tries`: attempts on its route; the first is made however late it is. */
export function isExpired(
  order: { createdAt: number },
  tries: number,
  now: number,
  retryMs: number,
): boolean {
  return tries > 0 && now >= order.createdAt + retryMs;
}

/**
 * Refuses a transition of a PENDING order by the operator, who may only cancel it, and not while it is being sent.
 * Refuses: order_being_sent, order_transition_illegal.
 */
export function refuseOperatorTransition(
  order: { status: OrderStatus; delivery: Pick<Delivery, "placement"> | null },
  to: OrderStatus,
): void {
  if (order.status !== "PENDING") return;
  if (to !== "CANCELLED") throw new Refusal("order_transition_illegal", { from: order.status, to });
  if (placementOf(order.delivery) === "sending") throw refusal("order_being_sent");
}

/** Refuses to settle any order but a PENDING one whose placement is unknown. Refuses: order_not_unknown. */
export function refuseSettlement(order: {
  status: OrderStatus;
  delivery: Pick<Delivery, "placement"> | null;
}): void {
  const { status } = order;
  const placement = placementOf(order.delivery);
  if (status !== "PENDING" || placement !== "unknown") {
    throw new Refusal("order_not_unknown", { status, placement });
  }
}

/** Returns whether the order's number is from a settlement and can be corrected: the provider has reported nothing. */
export function isSettlementCorrectable(
  order: { status: OrderStatus; delivery: Pick<Delivery, "placement" | "reported"> | null },
  outcome: AttemptOutcome | undefined,
): boolean {
  const { status, delivery } = order;
  const isOpen = status === "PROCESSING" && delivery?.placement === "placed";
  return isOpen && delivery.reported === null && outcome === "unknown";
}
