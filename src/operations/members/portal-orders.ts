// Orders that members place in the portal, and their requests to cancel or refill orders: by the same rules as those of
// the reseller's keys.

import { type Actor, refuseDebitAboveBalance } from "../../domain/ledger/ledger.ts";
import type { RequestKind } from "../../domain/orders/order-requests.ts";
import { type OrderLimits, withOrder } from "../../domain/users/reseller-limits.ts";
import { attempt, Refusal, refusal } from "../../domain/values/error-table.ts";
import type { Claim } from "../../domain/values/idempotency.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import type { OrderRequest } from "../../db/tables/orders.ts";
import { users } from "../../db/tables/users.ts";
import type { Context } from "../batch/context.ts";
import { onceFor } from "../batch/idempotency.ts";
import { askRequest } from "../orders/order-requests.ts";
import { SYSTEM_ACTOR } from "../orders/order-transitions.ts";
import { createOrder, decideOrder, type NewOrderTerms } from "../orders/orders.ts";
import { beginCheck, type LimitCheck, refuseByCheck } from "../users/reseller-limits.ts";
import { requireActingMember } from "./acting.ts";

/** Previews placeMemberOrder: decides the order without placing it. Refuses what createOrder refuses, except limits. */
export function previewMemberOrder(reader: Reader, terms: NewOrderTerms, now: number) {
  const { service, quantity, charge, reseller } = decideOrder(
    reader,
    terms,
    { actor: SYSTEM_ACTOR },
    now,
  );
  return { service, quantity, chargeMicros: charge, balanceMicros: reseller.balanceMicros };
}

export interface PlaceMemberOrder {
  order: Omit<NewOrderTerms, "resellerAccount">;
  /** The charge that the member was shown; null: whatever it is now. */
  chargeMicros: number | null;
  /** The reseller's limits; absent: none. */
  limits?: OrderLimits;
  /** The form's token, so that a form that is sent twice places one order. */
  claim: Claim;
  actor: Actor;
}

/**
 * Places an order for a member, once for each claim. Returns the number of the order. Refuses what
 * requireActingMember refuses, idempotency_key_reused, then what createOrder refuses.
 */
export function placeMemberOrder(
  tx: Tx,
  { order: asked, chargeMicros, limits, claim, actor }: PlaceMemberOrder,
  context: Context,
): { orderId: number; replayed: boolean } {
  const { member, account: resellerAccount } = requireActingMember(tx, actor, "order");
  const run = () => {
    const check = beginCheck(tx, resellerAccount, limits, 1, context.now);
    const confirmed = chargeMicros === null ? {} : { chargeMicros };
    const placing = { actor, check, ...confirmed };
    const order = createOrder(tx, { ...asked, resellerAccount }, placing, context);
    // Without a body: the duplicate of a form shows the order as it is then.
    return { result: order, effect: { orderId: order.orderId }, body: null };
  };
  const current = ({ orderId }: { orderId: number | null }): Order => {
    const order = findOrder(tx, String(orderId));
    if (!order) throw new Error(`order ${orderId} of an idempotency record is missing`);
    return order;
  };
  const outcome = onceFor(tx, member, { resellerAccount, claim }, { run, current }, context);
  if (outcome.response !== null) throw new Error("an order of the portal has a stored response");
  return { orderId: outcome.effect.orderId, replayed: outcome.replayed };
}

/**
 * Decides orders of placeMemberOrders without placing them, each as if those before it had been placed. Returns for each
 * what it is and costs, or its refusal; and the reseller's balance.
 */
export function previewMemberOrders(
  reader: Reader,
  orders: readonly (NewOrderTerms | null)[],
  account: number,
  now: number,
) {
  const { balanceMicros } = reader.row(users.byKey, account)!;
  let left = balanceMicros;
  const decided = reader.each(orders, (terms) =>
    terms === null ? null : attempt(() => decideOrder(reader, terms, { actor: SYSTEM_ACTOR }, now)),
  );
  const previews = decided.map((each) => {
    if (each === null || each instanceof Refusal) return each;
    const refused = attempt(() => refuseDebitAboveBalance(left, each.charge));
    if (refused instanceof Refusal) return refused;
    left -= BigInt(each.charge);
    return { service: each.service, quantity: each.quantity, chargeMicros: each.charge };
  });
  return { previews, balanceMicros };
}

export interface PlaceMemberOrders {
  /** At most BATCH_LIMIT, none with a reference. */
  orders: readonly Omit<NewOrderTerms, "resellerAccount" | "reference">[];
  /** The sum of charges that the member was shown. */
  totalMicros: number;
  /** The reseller's limits; absent: none. */
  limits?: OrderLimits;
  /** The form's token, so that a form that is sent twice places its orders once. */
  claim: Claim;
  actor: Actor;
}

/**
 * Places all orders or none, once for each claim. Returns their numbers. Refuses what requireActingMember refuses,
 * idempotency_key_reused, then what createOrder refuses for any of them, and catalogue_changed for another sum.
 */
export function placeMemberOrders(
  tx: Tx,
  { orders: asked, totalMicros, limits, claim, actor }: PlaceMemberOrders,
  context: Context,
): { orderIds: number[]; replayed: boolean } {
  const { member, account: resellerAccount } = requireActingMember(tx, actor, "order");
  const orders = asked.map((each) => ({ ...each, resellerAccount }));
  const run = () => {
    const check = beginCheck(tx, resellerAccount, limits, orders.length, context.now);
    refuseAny(tx, orders, totalMicros, check, context.now);
    // Nothing is refused from here on.
    const placed = tx.each(orders, (each) => createOrder(tx, each, { actor, check }, context));
    const orderIds = placed.map(({ orderId }) => orderId);
    const effect = { orderId: orderIds[0]!, results: JSON.stringify(orderIds) };
    return { result: orderIds, effect, body: null };
  };
  const current = ({ results }: { results: string | null }) => JSON.parse(results!) as number[];
  const outcome = onceFor(tx, member, { resellerAccount, claim }, { run, current }, context);
  if (outcome.response !== null) throw new Error("orders of the portal have a stored response");
  return { orderIds: outcome.effect, replayed: outcome.replayed };
}

/** Refuses all orders if one of them would be refused after those before it, or if their charges have another sum. */
function refuseAny(
  tx: Tx,
  orders: readonly NewOrderTerms[],
  totalMicros: number,
  check: LimitCheck | undefined,
  now: number,
): void {
  const decided = tx.each(orders, (each) => decideOrder(tx, each, { actor: SYSTEM_ACTOR }, now));
  const trial = check && { ...check };
  let spent = 0n;
  for (const { reseller, charge } of decided) {
    const after = { ...reseller, balanceMicros: reseller.balanceMicros - spent };
    refuseDebitAboveBalance(after.balanceMicros, charge);
    if (trial) {
      refuseByCheck(trial, after, charge, now);
      trial.use = withOrder(trial.use, trial.limits.openOrders > 0);
    }
    spent += BigInt(charge);
  }
  if (spent !== BigInt(totalMicros)) throw refusal("catalogue_changed");
}

export interface MakeMemberRequest {
  kind: RequestKind;
  /** Either id of the order. */
  id: string;
  actor: Actor;
}

/** Asks for a cancellation or a refill. Refuses what requireActingMember and makeRequest refuse. */
export function makeMemberRequest(
  tx: Tx,
  { kind, id, actor }: MakeMemberRequest,
  context: Context,
): OrderRequest {
  const { account: resellerAccount } = requireActingMember(tx, actor, "order");
  return askRequest(tx, { resellerAccount, kind, id }, actor, context);
}
