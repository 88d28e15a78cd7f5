// Several orders in one command, and so in one commit.

import { attempt, Refusal, type RefusalCode } from "../domain/errors.ts";
import type { Claim } from "../domain/idempotency.ts";
import type { Tx } from "../db/connection.ts";
import { insertIdempotencyRecord } from "../db/idempotency.ts";
import type { Order } from "../db/orders.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";
import { findDuplicate, type Outcome } from "./idempotency.ts";
import { createOrder, type PlaceOrder, requireOrder } from "./orders.ts";

/** A refusal as plain data. */
export interface Refused {
  refused: RefusalCode;
  details: unknown;
}

export interface PlaceOrders {
  keyId: string;
  /** Orders, and in their place the ones that were not well formed. */
  entries: ({ order: PlaceOrder } | Refused)[];
}

/** What became of an entry. */
export type Placed = { order: Order } | Refused;

/** Refuses what requireCaller refuses: then no order is placed. */
export function placeOrders(tx: Tx, command: PlaceOrders, context: Context): Placed[] {
  requireCaller(tx, command.keyId, "order", context);
  return createOrders(tx, command, context);
}

/**
 * Places each order as createOrder does, in turn, so that an earlier one lowers the balance for a later one.
 * Refuses nothing itself: createOrder refuses before its first write, so one refusal leaves the others alone.
 */
function createOrders(tx: Tx, command: PlaceOrders, context: Context): Placed[] {
  return command.entries.map((entry) => {
    if ("refused" in entry) return entry;
    const placed = attempt(() => createOrder(tx, entry.order, context));
    return placed instanceof Refusal
      ? { refused: placed.code, details: placed.details }
      : { order: placed };
  });
}

export interface PlaceOrdersOnce extends PlaceOrders {
  resellerAccount: number;
  claim: Claim;
}

/** A batch that created no order is not remembered. Refuses what requireCaller refuses, then idempotency_key_reused. docs/specification.md#idempotency-record. */
export function placeOrdersOnce(
  tx: Tx,
  command: PlaceOrdersOnce,
  context: Context,
): Outcome<Placed[]> {
  const { resellerAccount, claim } = command;
  requireCaller(tx, command.keyId, "order", context);
  const earlier = findDuplicate(tx, resellerAccount, claim);
  if (earlier?.answer) return { replayed: true, answer: earlier.answer };
  if (earlier) return { replayed: true, answer: null, effect: currentOrders(tx, earlier.results!) };
  const placed = createOrders(tx, command, context);
  const first = placed.find((result) => "order" in result);
  if (first) {
    const effect = { orderId: first.order.orderId, results: JSON.stringify(placed) };
    insertIdempotencyRecord(tx, resellerAccount, claim, effect, null, context.now);
  }
  return { replayed: false, answer: null, effect: placed };
}

/** Remembered results with each order as it is by now. */
function currentOrders(tx: Tx, results: string): Placed[] {
  const placed = JSON.parse(results) as Placed[];
  return placed.map((result) =>
    "order" in result ? { order: requireOrder(tx, String(result.order.orderId)) } : result,
  );
}
