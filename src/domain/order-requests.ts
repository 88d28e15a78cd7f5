// Requests of resellers for orders that they have placed: to cancel one, or to refill it, which is to deliver again what
// was lost. A request is a wish: money moves only with the order's status. docs/specification.md#order-requests.

import type { Delivery } from "./deliveries.ts";
import type { OrderStatus } from "./orders.ts";
import { refusal } from "./refusals.ts";

export const REQUEST_KINDS = ["cancel", "refill"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export const REQUEST_STATES = ["requested", "sent", "accepted", "declined", "done"] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

const DAY_MS = 86_400_000;
export const REFILL_DAYS_DEFAULT = 30;
export const REFILL_DAYS_LIMIT = 3650;
/** From one refill of an order to the next that may be asked for. */
export const REFILL_PAUSE_MS = DAY_MS;
/** The newest requests of an order that are listed. */
export const REQUESTS_LISTED = 100;
/** How soon a request for an order that is being submitted is looked at again. */
export const REQUEST_WAIT_MS = 1000;

export function isRefillDays(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= REFILL_DAYS_LIMIT;
}

export function isOpen(state: RequestState): boolean {
  return state !== "declined" && state !== "done";
}

/** What decides a request, besides whether one of its kind is open. */
export interface RequestFacts {
  order: { status: OrderStatus; delivery: Pick<Delivery, "placement"> | null };
  service: { cancel: boolean; refill: boolean; refillDays: number };
  /** When the order became COMPLETED or PARTIAL; null: it never did. */
  endedAt: number | null;
  /** When its last refill was asked for, whatever became of that. */
  lastRefillAt: number | null;
}

/** Refuses: order_not_cancellable, order_not_refillable. */
export function refuseRequest(kind: RequestKind, facts: RequestFacts, now: number): void {
  if (kind === "cancel" && !isCancellable(facts)) throw refusal("order_not_cancellable");
  if (kind === "refill" && !isRefillable(facts, now)) throw refusal("order_not_refillable");
}

/** Not while it is unknown whether the provider has it: then nobody can say what is cancelled. */
function isCancellable({ order, service }: RequestFacts): boolean {
  if (!service.cancel || order.delivery?.placement === "unknown") return false;
  return order.status === "PENDING" || order.status === "PROCESSING";
}

function isRefillable({ order, service, endedAt, lastRefillAt }: RequestFacts, now: number) {
  if (!service.refill || !hasDelivered(order.status) || endedAt === null) return false;
  if (now - endedAt > service.refillDays * DAY_MS) return false;
  return lastRefillAt === null || now - lastRefillAt >= REFILL_PAUSE_MS;
}

/** Only what was delivered can be delivered again. */
export function hasDelivered(status: OrderStatus): boolean {
  return status === "COMPLETED" || status === "PARTIAL";
}

/** Whether an order was certainly never sent, and will not be before the transaction that asks has ended. */
export function isQueued(order: RequestFacts["order"]): boolean {
  return order.status === "PENDING" && order.delivery?.placement === "queued";
}

/** What becomes of an open request to cancel when its order changes to this status; null: it stays open. */
export function cancelAfter(status: OrderStatus): "done" | "declined" | null {
  if (status === "PENDING" || status === "PROCESSING") return null;
  return status === "COMPLETED" ? "declined" : "done";
}

/** What the operator may do with a request. */
export const REQUEST_DECISIONS = ["approve", "decline", "complete"] as const;
export type RequestDecision = (typeof REQUEST_DECISIONS)[number];

interface DecidedRequest {
  kind: RequestKind;
  state: RequestState;
  unknown: boolean;
  providerId: number | null;
}

/** What an operator may do with a request now. docs/specification.md#order-request-decisions. */
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

/** Refuses: request_being_sent, request_not_open. */
export function refuseDecision(request: DecidedRequest, decision: RequestDecision): void {
  if (decisionsFor(request).includes(decision)) return;
  throw refusal(
    request.state === "sent" && !request.unknown ? "request_being_sent" : "request_not_open",
  );
}

/** What became of a request at its provider. `cause` is for the operator, with the provider's key masked. */
export type RequestResult =
  /**
   * `refill`: the number that the provider gave it; null: of a cancellation, which has none. `pollInMs`: when to ask how
   * far it is, where the protocol says so.
   */
  | { outcome: "accepted"; refill: string | null; pollInMs?: number }
  | { outcome: "refused"; cause: string }
  | { outcome: "not_sent"; cause: string }
  | { outcome: "unknown"; cause: string };

/** How far a refill is, as its provider says. */
export interface RefillReport {
  /** Null when it was missing. */
  word: string | null;
  /** As received, truncated and with the key masked, for the log. */
  text: string;
  /** When to ask again, where the protocol says so. */
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

/** Ignores case, white space, `-` and `_`; null for an unknown word, which changes nothing. */
export function stateOfRefillWord(word: string): "accepted" | "done" | "declined" | null {
  const normalized = word.toLowerCase().replace(/[\s_-]+/g, "");
  if (!Object.hasOwn(STATE_BY_WORD, normalized)) return null;
  return STATE_BY_WORD[normalized] as "accepted" | "done" | "declined";
}
