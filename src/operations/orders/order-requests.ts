// Requests to cancel or refill orders. A reseller makes them. If no provider decides a request, the operator does.
// docs/specification/orders.md#order-requests. Sending them to providers: order-request-deliveries.ts.

import type { Claim } from "../../domain/values/idempotency.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { Micros } from "../../domain/ledger/money.ts";
import {
  isQueued,
  refuseDecision,
  refuseRequest,
  type RequestDecision,
  type RequestKind,
} from "../../domain/orders/order-requests.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import { attempt, Refusal, refusal } from "../../domain/values/error-table.ts";
import { requestResponse } from "../../domain/orders/responses.ts";
import type { OrderRequest } from "../../db/tables/orders.ts";
import {
  findOpenRequest,
  findOrderRequest,
  insertOrderRequest,
  getOrderRequest,
  readRefillTimes,
  updateOrderRequest,
} from "../../db/orders/order-requests.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Tx } from "../../db/port/port.ts";
import { findPastOrder } from "../../db/imports/imports.ts";
import { findService } from "../../db/catalogue/services.ts";
import { audit } from "../batch/audit.ts";
import { requireCaller } from "../batch/callers.ts";
import type { Context } from "../batch/context.ts";
import { once, type Outcome } from "../batch/idempotency.ts";
import type { Refused } from "./order-batches.ts";
import { applyTransition } from "./order-transitions.ts";
import { requireOrder } from "./orders.ts";

/** What is asked, of which order, and by whom. */
export interface AskedRequest {
  resellerAccount: number;
  kind: RequestKind;
  /** Either id of the order. */
  id: string;
}

export interface MakeRequest extends AskedRequest {
  keyId: string;
}

/** Makes a request. Refuses what requireCaller refuses, then what create refuses. */
export function makeRequest(tx: Tx, command: MakeRequest, context: Context): OrderRequest {
  requireCaller(tx, command.keyId, "order", context);
  return askRequest(tx, command, byKey(command.keyId), context);
}

/** Makes a request for a checked caller. Refuses what create refuses. */
export function askRequest(
  tx: Tx,
  asked: AskedRequest,
  actor: Actor,
  context: Context,
): OrderRequest {
  return create(tx, asked, actor, refillTimes(tx, asked), context);
}

function byKey(keyId: string): Actor {
  return { keyId, operator: null };
}

export interface MakeRequestOnce {
  request: MakeRequest;
  claim: Claim;
}

/** Runs makeRequest by `once`. docs/specification/http.md#idempotency-record. */
export function makeRequestOnce(
  tx: Tx,
  command: MakeRequestOnce,
  context: Context,
): Outcome<OrderRequest> {
  const { resellerAccount, keyId } = command.request;
  const claimant = { keyId, resellerAccount, permission: "order", claim: command.claim } as const;
  const run = () => {
    const request = askRequest(tx, command.request, byKey(keyId), context);
    const { orderId, requestId } = request;
    const effect = { orderId, results: JSON.stringify({ request: requestId }) };
    return { result: request, effect, body: requestResponse(request) };
  };
  const current = () => {
    throw new Error("a request was stored without its response");
  };
  return once(tx, claimant, { run, current }, context);
}

export interface MakeRequests extends Omit<MakeRequest, "id"> {
  ids: string[];
}

/** The result for one id. Results are in the sequence of the ids. */
export type Requested = { request: OrderRequest } | Refused;

/**
 * Makes several requests, one after the other. A refused request does not affect the other requests. Refuses what
 * requireCaller refuses, without making any request.
 */
export function makeRequests(tx: Tx, command: MakeRequests, context: Context): Requested[] {
  const { ids, ...rest } = command;
  requireCaller(tx, command.keyId, "order", context);
  // All queries run before the first write.
  const times = tx.each(ids, (id) => refillTimes(tx, { ...rest, id }));
  return tx.each(ids, (id, index) => {
    const made = attempt(() =>
      create(tx, { ...rest, id }, byKey(rest.keyId), times[index]!, context),
    );
    return made instanceof Refusal
      ? { refused: made.code, details: made.details }
      : { request: made };
  });
}

type RefillTimes = ReturnType<typeof readRefillTimes>;

/** Reads when the order ended and when it was last refilled. Only refills depend on these times. */
function refillTimes(tx: Tx, { kind, id }: AskedRequest): RefillTimes {
  const order = kind === "refill" ? findOrder(tx, id) : undefined;
  return order ? readRefillTimes(tx, order.orderId) : { endedAt: null, lastRefillAt: null };
}

/**
 * Creates a request. A queued order is cancelled at once: it was never sent, and its submission cannot start while this
 * runs. Refuses: order_not_found, request_already_open, order_not_cancellable, order_not_refillable.
 */
function create(
  tx: Tx,
  command: AskedRequest,
  actor: Actor,
  times: RefillTimes,
  context: Context,
): OrderRequest {
  const { kind, resellerAccount } = command;
  const { now } = context;
  refusePastOrder(tx, command);
  const order = requireOrder(tx, command.id);
  if (order.resellerAccount !== resellerAccount) throw refusal("order_not_found");
  const { orderId, delivery } = order;
  if (findOpenRequest(tx, orderId, kind)) throw refusal("request_already_open");
  const service = findService(tx, order.serviceId)!;
  refuseRequest(kind, { order, service, ...times }, now);
  // Nothing is refused from here on.
  const id = context.createId();
  const author = { keyId: actor.keyId, operator: actor.operator };
  const made = { id, orderId, resellerAccount, kind, ...author, createdAt: now, changedAt: now };
  if (kind === "cancel" && isQueued(order)) {
    cancelOrder(tx, order, author, CANCELLED_BEFORE, context);
    return insertOrderRequest(tx, { ...made, state: "done", note: CANCELLED_BEFORE });
  }
  const providerId = delivery?.providerId ?? null;
  const nextAt = providerId === null ? null : now;
  return insertOrderRequest(tx, { ...made, state: "requested", providerId, nextAt });
}

/** Refuses a request for an order that ended in another panel. Refuses: order_not_cancellable, order_not_refillable. */
function refusePastOrder(tx: Tx, { id, kind, resellerAccount }: AskedRequest): void {
  if (findPastOrder(tx, id)?.resellerAccount !== resellerAccount) return;
  throw refusal(kind === "cancel" ? "order_not_cancellable" : "order_not_refillable");
}

const CANCELLED_BEFORE = "cancelled on request before it was sent";

/** Cancels an order with an open request to cancel, because it turned out not to have been sent. */
export function cancelUnsent(
  tx: Tx,
  order: Order,
  { keyId, operator }: Pick<OrderRequest, "keyId" | "operator">,
  context: Context,
): Order {
  return cancelOrder(tx, order, { keyId, operator }, CANCELLED_BEFORE, context);
}

/** Cancels an order: refunds what is left of the charge, and ends an open request to cancel. */
function cancelOrder(
  tx: Tx,
  order: Order,
  actor: Actor,
  note: string | null,
  context: Context,
): Order {
  const transition = decideTransition(order, "CANCELLED");
  return applyTransition(tx, order, transition, { actor, note }, context);
}

export interface DecideRequest {
  /** Either id of the request. */
  id: string;
  decision: RequestDecision;
  /** The refund that the operator confirmed; absent: whatever it is now. */
  refundMicros?: Micros;
  note: string | null;
  actor: Actor;
}

/**
 * Applies the operator's decision. Only the approved cancellation of an order that is delivered by hand moves money: it
 * cancels the order. Refuses: request_not_found, request_being_sent, request_not_open, order_changed.
 */
export function decideRequest(tx: Tx, command: DecideRequest, context: Context): OrderRequest {
  const { decision, note, actor } = command;
  const request = findOrderRequest(tx, command.id);
  if (!request) throw refusal("request_not_found");
  tx.lock(request.resellerAccount);
  refuseDecision(request, decision);
  const isCancelled = cancelsOrder(request, decision);
  const order = requireOrder(tx, String(request.orderId));
  if (isCancelled) refuseOtherRefund(order, command.refundMicros);
  // Nothing is refused from here on.
  const after = isCancelled
    ? cancelAsAsked(tx, request, order, command, context)
    : updateOrderRequest(tx, request, {
        state: STATE_AFTER[decision],
        unknown: false,
        nextAt: null,
        note: note ?? request.note,
        changedAt: context.now,
      });
  audit(tx, context, {
    actor,
    action: `request.${decision}`,
    subject: request.id,
    account: request.resellerAccount,
    before: { state: request.state },
    after: { state: after.state, kind: request.kind, orderId: request.orderId, note },
  });
  return after;
}

const STATE_AFTER = { approve: "accepted", decline: "declined", complete: "done" } as const;

/** Returns whether the decision itself cancels the order, because no provider has it. */
export function cancelsOrder(
  { kind, providerId }: Pick<OrderRequest, "kind" | "providerId">,
  decision: RequestDecision,
): boolean {
  return decision === "approve" && kind === "cancel" && providerId === null;
}

function refuseOtherRefund(order: Order, confirmed: Micros | undefined): void {
  const { refundMicros } = decideTransition(order, "CANCELLED");
  if (confirmed !== undefined && confirmed !== refundMicros) throw refusal("order_changed");
}

function cancelAsAsked(
  tx: Tx,
  request: OrderRequest,
  order: Order,
  { actor, note }: DecideRequest,
  context: Context,
): OrderRequest {
  const noted = note === null ? request : updateOrderRequest(tx, request, { note });
  cancelOrder(tx, order, actor, note, context);
  return getOrderRequest(tx, noted.requestId);
}
