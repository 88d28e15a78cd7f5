// One step of an order's life, written down: the row, its refund and its event, together. docs/specification.md#order-transitions.
// Every operation that changes a status comes through here.

import type { Delivery } from "../domain/deliveries.ts";
import { type Actor, SALES_ACCOUNT } from "../domain/ledger.ts";
import type { OrderTransition } from "../domain/order-transitions.ts";
import type { OrderStatus } from "../domain/orders.ts";
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

/** What a move changes besides the status, `remains` and the refund. */
export interface TransitionEffects {
  startCount?: number;
  delivery?: Partial<Delivery>;
}

/** Writes a move that `decideTransition` allowed. */
export function applyTransition(
  tx: Tx,
  order: Order,
  move: OrderTransition,
  cause: Cause,
  context: Context,
  effects: TransitionEffects = {},
): Order {
  const { refundMicros, ...changes } = move;
  const moved: Order = {
    ...order,
    ...changes,
    startCount: effects.startCount ?? order.startCount,
    refundedMicros: order.refundedMicros + refundMicros,
    delivery: order.delivery && movedDelivery(order.delivery, effects.delivery, context.now),
  };
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

/** An order that has moved is not sent any more. */
function movedDelivery(
  delivery: Delivery,
  changes: Partial<Delivery> | undefined,
  now: number,
): Delivery {
  const moved = { ...delivery, nextSubmitAt: null, ...changes };
  return { ...moved, changedAt: moved.placement === "placed" ? now : null };
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
