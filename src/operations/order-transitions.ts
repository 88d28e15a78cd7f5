// One step of an order's life, written down: the row, its refund and its event, together. docs/specification.md#order-transitions.
// Every operation that changes a status comes through here.

import { type Actor, SALES_ACCOUNT } from "../domain/ledger.ts";
import type { OrderTransition, OrderStatus } from "../domain/orders.ts";
import type { Tx } from "../db/connection.ts";
import { postTransfer } from "../db/ledger.ts";
import { insertOrderEvent, type Order, updateOrder } from "../db/orders.ts";
import { audit, orderFacts } from "./audit.ts";
import type { Context } from "./context.ts";

/** Nobody but the service itself: a provider's word, or a time that ran out. */
export const SYSTEM_ACTOR: Actor = { keyId: null, operator: null };

export interface Cause {
  actor: Actor;
  /** Why, for the operator; a provider's text in it has its key masked. */
  note: string | null;
}

/** Where an order stands with its provider. */
export type DeliveryChanges = Partial<
  Pick<
    Order,
    "placement" | "providerOrder" | "reported" | "nextSubmitAt" | "nextPollAt" | "polledAt"
  > & { startCount: number }
>;

/** Writes a move that `decideTransition` allowed. `standing` is what changes besides. */
export function applyTransition(
  tx: Tx,
  order: Order,
  move: OrderTransition,
  cause: Cause,
  context: Context,
  delivery: DeliveryChanges = {},
): Order {
  const { refundMicros, ...changes } = move;
  const moved: Order = {
    ...order,
    nextSubmitAt: null,
    ...delivery,
    ...changes,
    refundedMicros: order.refundedMicros + refundMicros,
  };
  moved.changedAt = moved.placement === "placed" ? context.now : null;
  updateOrder(tx, moved);
  postTransfer(tx, {
    debitAccount: SALES_ACCOUNT,
    creditAccount: order.resellerAccount,
    amountMicros: refundMicros,
    kind: move.status === "PARTIAL" ? "partial_refund" : "refund",
    orderId: order.orderId,
    actor: cause.actor,
    note: cause.note,
    createdAt: context.now,
  });
  recordEvent(tx, order, moved.status, cause, context);
  audit(tx, context, {
    actor: cause.actor,
    action: "order.move",
    subject: String(order.orderId),
    account: order.resellerAccount,
    before: orderFacts(order),
    after: { ...orderFacts(moved), note: cause.note },
  });
  return moved;
}

function recordEvent(
  tx: Tx,
  order: Order,
  toStatus: OrderStatus,
  { actor, note }: Cause,
  context: Context,
): void {
  const { orderId, status: fromStatus } = order;
  insertOrderEvent(tx, { orderId, fromStatus, toStatus, actor, note, createdAt: context.now });
}
