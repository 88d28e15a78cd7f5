// Records the sending of requests to cancel or refill, like submissions in deliveries.ts: `sent` is committed before
// the call to the provider, the outcome after it. Refills are polled until they end. Money moves only when an order
// turns out not to have been sent: it is cancelled. docs/specification/orders.md#order-request-delivery.

import { isInterrupted } from "../../domain/delivery/deliveries.ts";
import {
  isQueued,
  REQUEST_WAIT_MS,
  type RefillReport,
  type RequestKind,
  type RequestResult,
  stateOfRefillWord,
} from "../../domain/orders/order-requests.ts";
import { hasDelivered } from "../../domain/orders/order-statuses.ts";
import { nextPollAt } from "../../domain/delivery/polling.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import type { Order } from "../../db/orders/orders.ts";
import { findOrder } from "../../db/orders/orders.ts";
import type { OrderRequest } from "../../db/tables/orders.ts";
import {
  listDueRefills,
  listPerhapsSent,
  listSendingRequests,
  getOrderRequest,
  updateOrderRequest,
} from "../../db/orders/order-requests.ts";
import { updateNextPoll } from "../../db/delivery/polling.ts";
import type { Tx } from "../../db/port/port.ts";
import { updateLastSuccess } from "../../db/providers/providers.ts";
import type { Context } from "../batch/context.ts";
import { cancelUnsent } from "../orders/order-requests.ts";

export interface StartRequest {
  requestId: number;
  /** The provider to call. A request that has moved to another provider is skipped. */
  providerId: number;
  /** The id of the server that sends it. */
  server: string;
  /** Time from a request's creation during which it is retried if it was not sent. */
  placeRetryMs: number;
}

/** With `send`, the caller must now send the request and report the outcome with finishRequest. */
export type StartedRequest =
  | {
      send: true;
      requestId: number;
      orderId: number;
      kind: RequestKind;
      providerOrder: string;
      link: string;
      tries: number;
    }
  | { send: false };

const NOTHING_TO_SEND = { send: false } as const;

/** Starts to send a request, unless another provider has it or the order's status makes it pointless. */
export function startRequest(tx: Tx, command: StartRequest, context: Context): StartedRequest {
  const { now } = context;
  const found = getOrderRequest(tx, command.requestId);
  tx.lock(found.resellerAccount);
  const request = getOrderRequest(tx, command.requestId);
  if (request.state !== "requested" || request.providerId !== command.providerId)
    return NOTHING_TO_SEND;
  const order = findOrder(tx, String(request.orderId))!;
  const { requestId, orderId, kind, tries } = request;
  const { delivery, link } = order;
  const change = (changes: Partial<OrderRequest>) => {
    updateOrderRequest(tx, request, { ...changes, changedAt: now });
    return NOTHING_TO_SEND;
  };
  const decline = (note: string) => change({ state: "declined", nextAt: null, note });
  if (kind === "cancel" && isQueued(order)) {
    cancelUnsent(tx, order, request, context);
    return NOTHING_TO_SEND;
  }
  if (kind === "refill" && !hasDelivered(order.status)) {
    return decline(`the order is ${order.status}`);
  }
  // The order is being submitted. The outcome decides what happens to the request.
  if (delivery?.placement === "sending") return change({ nextAt: now + REQUEST_WAIT_MS });
  const providerOrder = delivery?.placement === "placed" ? delivery.providerOrder : null;
  if (delivery === null || providerOrder === null) {
    return decline("it is not known whether the provider has the order");
  }
  // Another provider took the order.
  const { providerId } = delivery;
  if (providerId !== request.providerId) return change({ providerId, nextAt: now });
  if (tries > 0 && now >= request.createdAt + command.placeRetryMs) {
    return decline("the provider could not be reached");
  }
  change({ state: "sent", server: command.server, sentAt: now, nextAt: null });
  return { send: true, requestId, orderId, kind, providerOrder, link, tries };
}

export interface FinishRequest {
  requestId: number;
  result: RequestResult;
  /** Delay before the next try of a request that was not sent. */
  backoffMs: number;
  pollIntervalMs: number;
}

/** `ignored`: the status of the order, or the operator, had ended the request before the outcome came. */
export type FinishedRequest = "applied" | "ignored";

/**
 * Records the outcome of a call. An unknown one waits for the operator, unless the provider's own reply comes late.
 * Recording the same outcome again changes nothing, so a caller may repeat the command when it does not know whether it
 * was committed.
 */
export function finishRequest(tx: Tx, command: FinishRequest, context: Context): FinishedRequest {
  const { result } = command;
  const found = getOrderRequest(tx, command.requestId);
  tx.lock(found.resellerAccount);
  const request = getOrderRequest(tx, command.requestId);
  const isDefinite = result.outcome === "accepted" || result.outcome === "refused";
  if (request.state !== "sent" || (request.unknown && !isDefinite)) return "ignored";
  const { now } = context;
  const ended = { unknown: false, server: null, changedAt: now };
  switch (result.outcome) {
    case "accepted":
      accept(tx, request, result, command.pollIntervalMs, context);
      break;
    case "refused":
      updateOrderRequest(tx, request, { ...ended, state: "declined", note: result.cause });
      break;
    case "not_sent":
      updateOrderRequest(tx, request, {
        ...ended,
        state: "requested",
        sentAt: null,
        tries: request.tries + (result.providerNotCalled ? 0 : 1),
        nextAt: now + command.backoffMs,
        note: result.cause,
      });
      break;
    case "unknown":
      updateOrderRequest(tx, request, { ...ended, unknown: true, note: result.cause });
  }
  return "applied";
}

/**
 * Records that the provider accepted the request. This cancels nothing yet: the order is polled at once, and the status
 * that the provider then reports decides.
 */
function accept(
  tx: Tx,
  request: OrderRequest,
  { refill, pollInMs }: Extract<RequestResult, { outcome: "accepted" }>,
  pollIntervalMs: number,
  { now }: Context,
): void {
  const order = findOrder(tx, String(request.orderId))!;
  updateLastSuccess(tx, request.providerId!, now);
  updateOrderRequest(tx, request, {
    state: "accepted",
    unknown: false,
    server: null,
    providerRefill: refill,
    nextAt: refill === null ? null : now + (pollInMs ?? pollIntervalMs),
    note: null,
    changedAt: now,
  });
  if (request.kind === "cancel" && isPolled(order)) updateNextPoll(tx, order.orderId, now);
}

function isPolled({ status, delivery }: Order): boolean {
  return status === "PROCESSING" && delivery?.placement === "placed";
}

export interface TakeDueRefills {
  providerId: number;
  limit: number;
  pollIntervalMs: number;
  /** 0 to 1. */
  jitter: number;
}

export interface DueRefill {
  requestId: number;
  providerRefill: string;
}

/** Returns the refills to ask about. Schedules the next poll of each, before the provider is asked. */
export function takeDueRefills(tx: Tx, command: TakeDueRefills, context: Context): DueRefill[] {
  const { providerId, limit, pollIntervalMs, jitter } = command;
  const { now } = context;
  const due = listDueRefills(tx, providerId, now, limit);
  return tx.each(due, ({ requestId, sentAt }) => {
    const request = getOrderRequest(tx, requestId);
    const followed = { status: "PROCESSING" as const, changedAt: sentAt ?? request.changedAt };
    const nextAt = nextPollAt(followed, now, pollIntervalMs, jitter);
    updateOrderRequest(tx, request, { nextAt });
    return { requestId, providerRefill: request.providerRefill! };
  });
}

export interface RecordRefillReports {
  providerId: number;
  reports: { requestId: number; report: RefillReport }[];
}

/** Applies reports about refills. Returns, for the log, the reports that were not understood. */
export function recordRefillReports(
  tx: Tx,
  command: RecordRefillReports,
  context: Context,
): { requestId: number; text: string }[] {
  const notices = tx.each(command.reports, ({ requestId, report }) => {
    const request = getOrderRequest(tx, requestId);
    const state = report.word === null ? null : stateOfRefillWord(report.word);
    if (state === null) return { requestId, text: report.text };
    if (request.kind !== "refill" || request.state !== "accepted") return null;
    const { now } = context;
    if (state !== "accepted") {
      const note = state === "declined" ? `the provider reported ${report.word!.trim()}` : null;
      updateOrderRequest(tx, request, { state, nextAt: null, note, changedAt: now });
    } else if (report.pollInMs !== undefined) {
      updateOrderRequest(tx, request, { nextAt: now + report.pollInMs });
    }
    return null;
  });
  updateLastSuccess(tx, command.providerId, context.now);
  return notices.filter((notice) => notice !== null);
}

export interface MarkRequestsUnknown {
  cause: string;
  /** The id of the calling server, whose own calls are still under way. */
  server: string;
}

/** Marks requests as unknown that were being sent by servers that have ended. Returns their numbers. */
export function markRequestsUnknown(
  tx: Tx,
  { cause, server }: MarkRequestsUnknown,
  context: Context,
): number[] {
  const interrupted = listSendingRequests(tx).filter((each) => isInterrupted(each, server));
  return tx
    .each(interrupted, ({ requestId }) => markUnknown(tx, requestId, cause, context))
    .filter((requestId) => requestId !== null);
}

/**
 * After a restore: marks requests as unknown that had no outcome in the backup, because they may have been sent since.
 */
export function markPerhapsSent(tx: Tx, cause: string, context: Context): number {
  return tx.each(listPerhapsSent(tx), (requestId) => markUnknown(tx, requestId, cause, context))
    .length;
}

/**
 * Marks a request as unknown. A request for a test order was certainly not sent: it is sent again, and the result is
 * null.
 */
function markUnknown(tx: Tx, requestId: number, cause: string, { now }: Context): number | null {
  const request = getOrderRequest(tx, requestId);
  if (request.providerId === SANDBOX_PROVIDER) {
    const again = { server: null, sentAt: null, nextAt: now, changedAt: now };
    updateOrderRequest(tx, request, { ...again, state: "requested" });
    return null;
  }
  updateOrderRequest(tx, request, {
    state: "sent",
    unknown: true,
    server: null,
    sentAt: request.sentAt ?? now,
    nextAt: null,
    note: cause,
    changedAt: now,
  });
  return requestId;
}
