// Requests of resellers to cancel a placed order, or to refill it: to deliver lost units again. A request does not move
// money; only a change of the order's status does. docs/specification/orders.md#order-requests.

import type { Delivery } from "../delivery/deliveries.ts";
import { hasDelivered, isOpenStatus, type OrderStatus, refundIn } from "./order-statuses.ts";
import { refusal } from "../values/error-table.ts";
import { DAY_MS } from "../values/spans.ts";

export const REQUEST_KINDS = ["cancel", "refill"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export const REQUEST_STATES = ["requested", "sent", "accepted", "declined", "done"] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

export const REFILL_DAYS_DEFAULT = 30;
export const REFILL_DAYS_LIMIT = 3650;
/** Shortest time between two requests to refill an order. */
export const REFILL_PAUSE_MS = DAY_MS;
/** Limit for the requests that are listed with an order, newest first. */
export const REQUESTS_LISTED = 100;
/** How long a request waits while its order is being submitted. */
export const REQUEST_WAIT_MS = 1000;

export function isOpen(state: RequestState): boolean {
  return state !== "declined" && state !== "done";
}

/** The facts that decide whether a request may be made, apart from an open request of the same kind. */
export interface RequestFacts {
  order: { status: OrderStatus; delivery: Pick<Delivery, "placement"> | null };
  service: { cancel: boolean; refill: boolean; refillDays: number };
  /** When the order became COMPLETED or PARTIAL; null: never. */
  endedAt: number | null;
  /** When the order's last refill was requested, whatever its result. */
  lastRefillAt: number | null;
}

/** Refuses a request that the order does not allow. Refuses: order_not_cancellable, order_not_refillable. */
export function refuseRequest(kind: RequestKind, facts: RequestFacts, now: number): void {
  if (kind === "cancel" && !isCancellable(facts)) throw refusal("order_not_cancellable");
  if (kind === "refill" && !isRefillable(facts, now)) throw refusal("order_not_refillable");
}

/** Returns whether an order can be cancelled: not while it is unknown whether the provider has it. */
function isCancellable({ order, service }: RequestFacts): boolean {
  if (!service.cancel || order.delivery?.placement === "unknown") return false;
  return isOpenStatus(order.status);
}

function isRefillable({ order, service, endedAt, lastRefillAt }: RequestFacts, now: number) {
  if (!service.refill || !hasDelivered(order.status) || endedAt === null) return false;
  if (now - endedAt > service.refillDays * DAY_MS) return false;
  return lastRefillAt === null || now - lastRefillAt >= REFILL_PAUSE_MS;
}

/** Returns whether an order was certainly never sent, and will not be sent before the calling transaction ends. */
export function isQueued(order: RequestFacts["order"]): boolean {
  return order.status === "PENDING" && order.delivery?.placement === "queued";
}

/** Returns the new state of an open request to cancel when its order changes to this status; null: it stays open. */
export function cancelAfter(status: OrderStatus): "done" | "declined" | null {
  if (isOpenStatus(status)) return null;
  return refundIn(status) === "nothing" ? "declined" : "done";
}

/** The operator's decisions about a request. */
export const REQUEST_DECISIONS = ["approve", "decline", "complete"] as const;
export type RequestDecision = (typeof REQUEST_DECISIONS)[number];

interface DecidedRequest {
  kind: RequestKind;
  state: RequestState;
  unknown: boolean;
  providerId: number | null;
}

/** Returns the decisions that a request allows in its state. docs/specification/orders.md#order-request-decisions. */
export function decisionsFor(request: DecidedRequest): readonly RequestDecision[] {
  const { kind, state, unknown, providerId } = request;
  switch (state) {
    case "requested":
      return providerId === null ? ["approve", "decline"] : ["decline"];
    case "sent":
      return unknown ? ["approve", "decline"] : [];
    case "accepted":
      // A request to cancel is done once the order's status says so.
      return kind === "cancel" ? ["decline"] : ["complete", "decline"];
    default:
      return [];
  }
}

/** Returns whether a request waits for the operator, not for its provider. */
export function waitsForOperator({ state, unknown, providerId }: DecidedRequest): boolean {
  return unknown || (providerId === null && state === "requested");
}

/** Refuses a decision that the request does not allow. Refuses: request_being_sent, request_not_open. */
export function refuseDecision(request: DecidedRequest, decision: RequestDecision): void {
  if (decisionsFor(request).includes(decision)) return;
  throw refusal(
    request.state === "sent" && !request.unknown ? "request_being_sent" : "request_not_open",
  );
}

/** The result of sending a request to its provider. `cause` is for the operator, with the provider's key masked. */
export type RequestResult =
  /**
   * `refill`: the provider's number for the refill; null for a cancellation, which has no number. `pollInMs`: delay of
   * the first poll, if the protocol sets it.
   */
  | { outcome: "accepted"; refill: string | null; pollInMs?: number }
  | { outcome: "refused"; cause: string }
  /** `providerNotCalled`: it ended before the call, so it was no try to reach the provider. */
  | { outcome: "not_sent"; cause: string; providerNotCalled?: true }
  | { outcome: "unknown"; cause: string };

/** The progress of a refill, as its provider reports it. */
export interface RefillReport {
  /** The status as the provider wrote it; null when it was missing. */
  word: string | null;
  /** The reply as received, truncated and with the key masked, for the log. */
  text: string;
  /** Delay of the next poll, if the protocol sets it. */
  pollInMs?: number;
}

const STATE_BY_WORD: Record<string, RequestState> = {
  pending: "accepted",
  processing: "accepted",
  inprogress: "accepted",
  awaiting: "accepted",
  completed: "done",
  success: "done",
  rejected: "declined",
  declined: "declined",
  canceled: "declined",
  cancelled: "declined",
};

/** Parses a provider's word for a refill, ignoring case, white space, `-` and `_`; null for an unknown word. */
export function stateOfRefillWord(word: string): "accepted" | "done" | "declined" | null {
  const normalized = word.toLowerCase().replace(/[\s_-]+/g, "");
  if (!Object.hasOwn(STATE_BY_WORD, normalized)) return null;
  return STATE_BY_WORD[normalized] as "accepted" | "done" | "declined";
}
