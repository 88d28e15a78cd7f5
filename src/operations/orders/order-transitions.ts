// Writes a transition of an order: the row, its refund, its event, its audit entry and its webhook event. Every
// operation that changes a status calls applyTransition. docs/specification/orders.md#order-transitions.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import type { Delivery } from "../../domain/delivery/deliveries.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { OrderTransition } from "../../domain/orders/order-transitions.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Tx } from "../../db/port/port.ts";
import { type Order, updateOrder } from "../../db/orders/orders.ts";
import { insertOrderEvent } from "../../db/orders/order-events.ts";
import { audit, orderFacts } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { endCancelRequest } from "./order-request-ends.ts";
import { writeRefund } from "./refunds.ts";
import { mailRefund } from "../mails/mail-events.ts";
import { recordTransitionEvent } from "../webhooks/webhook-events.ts";

/** A server itself as the actor: after a provider's reply or report, or when retries have ended. */
export const SYSTEM_ACTOR: Actor = { keyId: null, operator: null };

export interface Cause {
  actor: Actor;
  /** The reason, for the operator; a provider's key is masked in it. */
  note: string | null;
  /** Shown to the reseller with the refund. */
  publicNote?: string | null;
}

/** Changes by a transition besides the status, `remains` and the refund. */
export interface TransitionEffects {
  startCount?: number;
  delivery?: Partial<Delivery>;
}

/** Writes a transition that `decideTransition` allowed. Returns the order after it. */
export function applyTransition(
  tx: Tx,
  order: Order,
  transition: OrderTransition,
  cause: Cause,
  context: Context,
  effects: TransitionEffects = {},
): Order {
  const { refundMicros, ...changes } = transition;
  const after: Order = {
    ...order,
    ...changes,
    startCount: effects.startCount ?? order.startCount,
    refundedMicros: order.refundedMicros + refundMicros,
    sequence: order.sequence + 1,
    delivery: order.delivery && deliveryAfter(order.delivery, effects.delivery, context.now),
  };
  updateOrder(tx, after);
  const { actor, note, publicNote = null } = cause;
  writeRefund(tx, order, transition, { actor, note, publicNote }, context.now);
  recordEvent(tx, order, after.status, cause, context);
  audit(tx, context, {
    actor,
    action: "order.move",
    subject: String(order.orderId),
    account: order.resellerAccount,
    before: orderFacts(order),
    after: { ...orderFacts(after), ...notesOf(cause) },
  });
  endCancelRequest(tx, order.orderId, after.status, context);
  recordTransitionEvent(tx, after, order.status, context);
  mailRefund(tx, after, refundMicros, context);
  return after;
}

/** Returns the notes as the audit log stores them. */
function notesOf({ note, publicNote = null }: Cause): AuditFacts {
  return publicNote === null ? { note } : { note, publicNote };
}

/** Returns the delivery after a transition. The order is not submitted again. */
function deliveryAfter(
  delivery: Delivery,
  changes: Partial<Delivery> | undefined,
  now: number,
): Delivery {
  const after = { ...delivery, nextSubmitAt: null, ...changes };
  return { ...after, changedAt: after.placement === "placed" ? now : null };
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
