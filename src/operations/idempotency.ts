// Orders and recharges that carry an Idempotency-Key: one effect for a request and all its duplicates.
// What a key did is written in the transaction that did it, with the answer where that is known by then.

import { refusal } from "../domain/errors.ts";
import {
  type Claim,
  type StoredResponse,
  IDEMPOTENCY_RETENTION_MS,
} from "../domain/idempotency.ts";
import type { Tx } from "../db/connection.ts";
import {
  deleteIdempotencyRecords,
  findIdempotencyRecord,
  insertIdempotencyRecord,
  type IdempotencyRecord,
  updateIdempotencyResponse,
} from "../db/idempotency.ts";
import { lastTransferSeq } from "../db/ledger.ts";
import { readUptime } from "../db/uptime.ts";
import { findOrder, type Order } from "../db/orders.ts";
import { orderResponse, rechargeResponse } from "../domain/responses.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";
import { createOrder, type PlaceOrder } from "./orders.ts";
import { type Recharge, rechargeAs } from "./recharges.ts";

/** What a request with a key comes to. Without an answer: what it did, for its caller to wait for. */
export type Outcome<Effect> = { replayed: boolean } & (
  { answer: StoredResponse } | { answer: null; effect: Effect }
);

export interface PlaceOrderOnce {
  order: PlaceOrder;
  claim: Claim;
}

/** Refuses what requireCaller refuses, then idempotency_key_reused, then what createOrder refuses. docs/specification.md#idempotency-record. */
export function placeOrderOnce(tx: Tx, command: PlaceOrderOnce, context: Context): Outcome<Order> {
  const { claim } = command;
  const { resellerAccount, keyId } = command.order;
  requireCaller(tx, keyId, "order", context);
  const earlier = findEarlier(tx, resellerAccount, claim);
  if (earlier) return earlier;
  const order = createOrder(tx, command.order, context);
  // An order that goes to a provider is answered once the provider was asked.
  const answer = order.status === "PENDING" ? null : success(orderResponse(order));
  insertIdempotencyRecord(
    tx,
    resellerAccount,
    claim,
    { orderId: order.orderId },
    answer,
    context.now,
  );
  return answer ? { replayed: false, answer } : { replayed: false, answer, effect: order };
}

export interface RechargeOnce {
  recharge: Recharge;
  claim: Claim;
}

/** Refuses what requireCaller refuses, then idempotency_key_reused, then what rechargeAs refuses. docs/specification.md#idempotency-record. */
export function rechargeOnce(tx: Tx, command: RechargeOnce, context: Context): Outcome<never> {
  const { claim } = command;
  const { resellerAccount, keyId } = command.recharge;
  const caller = requireCaller(tx, keyId, "recharge", context);
  const earlier = findDuplicate(tx, resellerAccount, claim);
  if (earlier) return { replayed: true, answer: earlier.answer! };
  const answer = success(rechargeResponse(rechargeAs(tx, caller, command.recharge, context)));
  const effect = { transferSeq: lastTransferSeq(tx) };
  insertIdempotencyRecord(tx, resellerAccount, claim, effect, answer, context.now);
  return { replayed: false, answer };
}

export interface RecordResponse {
  resellerAccount: number;
  key: string;
  answer: StoredResponse;
}

/** Keeps the answer of an order that was waited for, before it is given. The first one stays. */
export function recordResponse(tx: Tx, command: RecordResponse): null {
  updateIdempotencyResponse(tx, command.resellerAccount, command.key, command.answer);
  return null;
}

export interface ExpireIdempotencyRecords {
  /** How many at most, so that no order waits for long behind this. */
  limit: number;
}

/** Forgets keys since whose use the service has run for long enough; returns how many. */
export function expireIdempotencyRecords(tx: Tx, command: ExpireIdempotencyRecords): number {
  return deleteIdempotencyRecords(tx, readUptime(tx) - IDEMPOTENCY_RETENTION_MS, command.limit);
}

/** What the key did before; undefined when it is new. Refuses: idempotency_key_reused. */
export function findDuplicate(
  tx: Tx,
  resellerAccount: number,
  claim: Claim,
): IdempotencyRecord | undefined {
  const used = findIdempotencyRecord(tx, resellerAccount, claim.key);
  if (used && used.requestHash !== claim.requestHash) throw refusal("idempotency_key_reused");
  return used;
}

/** What an earlier request with the key came to; undefined when there was none. */
function findEarlier(tx: Tx, resellerAccount: number, claim: Claim): Outcome<Order> | undefined {
  const used = findDuplicate(tx, resellerAccount, claim);
  if (!used) return undefined;
  if (used.answer) return { replayed: true, answer: used.answer };
  const order = findOrder(tx, String(used.orderId));
  if (!order) throw new Error(`a used key refers to order ${used.orderId}, which is not there`);
  return { replayed: true, answer: null, effect: order };
}

function success(body: object): StoredResponse {
  return { status: 200, body: JSON.stringify(body) };
}
