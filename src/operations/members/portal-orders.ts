// Orders that members place in the portal, and their requests to cancel or refill orders: by the same rules as those of
// the reseller's keys.

import type { Actor } from "../../domain/ledger/ledger.ts";
import type { RequestKind } from "../../domain/orders/order-requests.ts";
import type { OrderLimits } from "../../domain/users/reseller-limits.ts";
import type { Claim } from "../../domain/values/idempotency.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import type { OrderRequest } from "../../db/tables/orders.ts";
import type { Context } from "../batch/context.ts";
import { onceFor } from "../batch/idempotency.ts";
import { askRequest } from "../orders/order-requests.ts";
import { SYSTEM_ACTOR } from "../orders/order-transitions.ts";
import { createOrder, decideOrder, type NewOrderTerms } from "../orders/orders.ts";
import { beginCheck } from "../users/reseller-limits.ts";
import { requireMember } from "./acting.ts";

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
 * Places an order for a member, once for each claim. Returns the number of the order. Refuses what requireMember
 * refuses, idempotency_key_reused, then what createOrder refuses.
 */
export function placeMemberOrder(
  tx: Tx,
  { order: asked, chargeMicros, limits, claim, actor }: PlaceMemberOrder,
  context: Context,
): { orderId: number; replayed: boolean } {
  const member = requireMember(tx, actor, "order");
  const { account: resellerAccount } = member;
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

export interface MakeMemberRequest {
  kind: RequestKind;
  /** Either id of the order. */
  id: string;
  actor: Actor;
}

/** Asks for a cancellation or a refill. Refuses what requireMember and makeRequest refuse. */
export function makeMemberRequest(
  tx: Tx,
  { kind, id, actor }: MakeMemberRequest,
  context: Context,
): OrderRequest {
  const { account: resellerAccount } = requireMember(tx, actor, "order");
  return askRequest(tx, { resellerAccount, kind, id }, actor, context);
}
