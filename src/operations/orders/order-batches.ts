// Places several orders in one command, and so in one commit.

import { attempt, Refusal, type RefusalCode } from "../../domain/values/error-table.ts";
import type { Claim } from "../../domain/values/idempotency.ts";
import { type Need, needRow, type Tx } from "../../db/port/port.ts";
import type { IdempotencyRecord } from "../../db/tables/database.ts";
import { keys } from "../../db/tables/users.ts";
import type { Order } from "../../db/orders/orders.ts";
import { requireCaller } from "../batch/callers.ts";
import type { Context } from "../batch/context.ts";
import { beginCheck } from "../users/reseller-limits.ts";
import { needsOfClaim, once, type Outcome } from "../batch/idempotency.ts";
import { byKey, createOrder, needsOfPlacing, type PlaceOrder, requireOrder } from "./orders.ts";

/** A refusal as plain data. */
export interface Refused {
  refused: RefusalCode;
  details: unknown;
}

export interface PlaceOrders {
  keyId: string;
  /** The entries, in the sequence of the request. A malformed entry is replaced by its refusal. */
  entries: ({ order: PlaceOrder } | Refused)[];
}

/** The result for one entry. */
export type Placed = { order: Order } | Refused;

/** Places several orders. Refuses what requireCaller refuses, without placing any order. */
export function placeOrders(tx: Tx, command: PlaceOrders, context: Context): Placed[] {
  requireCaller(tx, command.keyId, "order", context);
  return createOrders(tx, command, context);
}

export function needsOfOrders({ keyId, entries }: PlaceOrders): Need[] {
  const placed = entries.flatMap((entry) => ("order" in entry ? needsOfPlacing(entry.order) : []));
  return [needRow(keys.byKey, keyId), ...placed];
}

export function countOrders({ entries }: PlaceOrders): number {
  return entries.filter((entry) => "order" in entry).length;
}

/**
 * Creates the orders one after the other: an earlier one lowers the balance for a later one. A refused order does not
 * affect the other orders, because createOrder refuses before its first write.
 */
function createOrders(tx: Tx, command: PlaceOrders, context: Context): Placed[] {
  const given = command.entries.flatMap((entry) => ("order" in entry ? [entry.order] : []));
  const [first] = given;
  const check =
    first && beginCheck(tx, first.resellerAccount, first.limits, given.length, context.now);
  return tx.each(command.entries, (entry) => {
    if ("refused" in entry) return entry;
    const placing = byKey(entry.order.keyId, check);
    const placed = attempt(() => createOrder(tx, entry.order, placing, context));
    return placed instanceof Refusal
      ? { refused: placed.code, details: placed.details }
      : { order: placed };
  });
}

export interface PlaceOrdersOnce extends PlaceOrders {
  resellerAccount: number;
  claim: Claim;
}

/**
 * Runs placeOrders by `once`. If no order was placed, no idempotency record is written.
 * docs/specification/http.md#idempotency-record.
 */
export function placeOrdersOnce(
  tx: Tx,
  command: PlaceOrdersOnce,
  context: Context,
): Outcome<Placed[]> {
  const { keyId, resellerAccount, claim } = command;
  const run = () => {
    const placed = createOrders(tx, command, context);
    const first = placed.find((result) => "order" in result);
    const effect = first && { orderId: first.order.orderId, results: JSON.stringify(placed) };
    return { result: placed, effect: effect ?? null, body: null };
  };
  const current = ({ results }: IdempotencyRecord) => currentOrders(tx, results!);
  const claimant = { keyId, resellerAccount, permission: "order", claim } as const;
  return once(tx, claimant, { run, current }, context);
}

export function needsOfOrdersOnce(command: PlaceOrdersOnce): Need[] {
  return [...needsOfOrders(command), ...needsOfClaim(command.resellerAccount, command.claim)];
}

/** Returns the results of a record, with the current state of each order. */
function currentOrders(tx: Tx, results: string): Placed[] {
  const placed = JSON.parse(results) as Placed[];
  return tx.each(placed, (result) =>
    "order" in result ? { order: requireOrder(tx, String(result.order.orderId)) } : result,
  );
}
