// How an order gets to its provider: sent once, and told apart by docs/specification.md#delivery-outcomes.
// What was sent, or may have been, is never sent again; only what was certainly not sent is.

import { Refusal, refusal } from "./errors.ts";
import type { OrderStatus } from "./orders.ts";

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

/** Where an order of a provider's service stands with that provider. An order of a manual service has none. */
export interface Delivery {
  providerId: number;
  /** The id of the service at the provider. */
  providerService: string;
  placement: Exclude<Placement, "manual">;
  /** The number that the provider gave the order; null until it is placed. */
  providerOrder: string | null;
  /** The status that the provider reported last. */
  reported: OrderStatus | null;
  /** When a queued one is sent next. */
  nextSubmitAt: number | null;
  /** When a placed one is polled next; null once its end is long past. */
  nextPollAt: number | null;
  /** When the provider last answered for it. */
  polledAt: number | null;
  /** When a report, or an operator, last changed something. */
  changedAt: number | null;
}

/** The delivery of a new order: queued, and due at once. */
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

/** What one call upstream came to. Causes are for the operator, with the provider's key masked. */
export type SubmissionResult =
  | { outcome: "accepted"; providerOrder: string }
  | { outcome: "refused"; cause: string; outOfFunds: boolean }
  | { outcome: "not_sent"; cause: string }
  | { outcome: "unknown"; cause: string };

/** The number that a provider gives an order: a positive whole number, as text. */
const PROVIDER_ORDER = /^[1-9][0-9]{0,18}$/;

export function isProviderOrder(text: string): boolean {
  return PROVIDER_ORDER.test(text);
}

/** When an order that was not sent is tried next: after the pause, and not past the end of its retries. */
export function nextSubmitAt(
  order: { createdAt: number },
  now: number,
  backoffMs: number,
  retryMs: number,
): number {
  return Math.max(now, Math.min(now + backoffMs, order.createdAt + retryMs));
}

/** Whether a queued order is given up. One that was never tried is tried once, however late it is. */
export function isExpired(
  order: { createdAt: number },
  tries: number,
  now: number,
  retryMs: number,
): boolean {
  return tries > 0 && now >= order.createdAt + retryMs;
}

/**
 * An operator may cancel a PENDING order, unless it is being sent; whether it failed is the provider's to say.
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

/** Only a PENDING order whose placement is unknown can be settled. Refuses: order_not_unknown. */
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
