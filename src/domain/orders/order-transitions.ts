// The transitions that an order may make, and the decision on one with its refund (order-statuses.ts).
// docs/specification/orders.md#order-transitions.

import { Refusal } from "../values/error-table.ts";
import { multiplyDivideDown } from "../ledger/money.ts";
import { isOpenStatus, ORDER_STATUSES, type OrderStatus, refundIn } from "./order-statuses.ts";

interface Transitions {
  /** The statuses to which an order may change. A status without any is final. */
  next: readonly OrderStatus[];
  /** The statuses to which an order may change when the operator accepts a late report. */
  late?: readonly OrderStatus[];
}

const TRANSITIONS: Record<OrderStatus, Transitions> = {
  PENDING: { next: ["PROCESSING", "FAILED", "CANCELLED"] },
  PROCESSING: { next: ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED"] },
  COMPLETED: { next: ["REFUNDED"], late: ["PARTIAL", "REFUNDED"] },
  PARTIAL: { next: ["REFUNDED"], late: ["REFUNDED"] },
  FAILED: { next: [] },
  CANCELLED: { next: [] },
  REFUNDED: { next: [] },
};

export const FINAL_STATUSES = ORDER_STATUSES.filter(
  (status) => transitionsFrom(status).length === 0,
);

/** Returns the statuses to which an order in this status may change. */
export function transitionsFrom(status: OrderStatus): readonly OrderStatus[] {
  return TRANSITIONS[status].next;
}

/** Returns the statuses that an accepted late report may give an order in this status. */
export function lateTransitionsFrom(status: OrderStatus): readonly OrderStatus[] {
  return TRANSITIONS[status].late ?? [];
}

/** The fields of an order that decide its next transition. */
export interface TransitionInput {
  status: OrderStatus;
  quantity: number;
  chargeMicros: number;
  refundedMicros: number;
  remains: number;
}

export interface OrderTransition {
  status: OrderStatus;
  remains: number;
  /** 0 when the transition refunds nothing. */
  refundMicros: number;
}

/**
 * Decides a transition and its refund, which never exceeds the part of the charge that is not refunded yet.
 * `remains` is used only for PARTIAL. Refuses: order_transition_illegal, remains_above_quantity.
 */
export function decideTransition(
  order: TransitionInput,
  to: OrderStatus,
  remains = 0,
): OrderTransition {
  if (!transitionsFrom(order.status).includes(to)) {
    throw new Refusal("order_transition_illegal", { from: order.status, to });
  }
  const unrefundedMicros = order.chargeMicros - order.refundedMicros;
  switch (refundIn(to)) {
    case "remains": {
      refuseRemainsAboveQuantity(order.quantity, remains);
      const proportionalMicros = multiplyDivideDown(order.chargeMicros, remains, order.quantity);
      return { status: to, remains, refundMicros: Math.min(unrefundedMicros, proportionalMicros) };
    }
    case "everything":
      return { status: to, remains: order.remains, refundMicros: unrefundedMicros };
    case "nothing":
      return { status: to, remains: isOpenStatus(to) ? order.remains : 0, refundMicros: 0 };
  }
}

/** Refuses progress that the order does not allow. Refuses: order_not_processing, remains_above_quantity. */
export function refuseProgress(order: TransitionInput, remains: number | null): void {
  if (order.status !== "PROCESSING") {
    throw new Refusal("order_not_processing", { status: order.status });
  }
  if (remains !== null) refuseRemainsAboveQuantity(order.quantity, remains);
}

/** Returns the order with progress. If start count or remains change, an event is sent, so the sequence grows by 1. */
export function withProgress<
  Order extends { startCount: number; remains: number; sequence: number },
>(order: Order, startCount: number, remains: number): Order {
  const hasMoved = startCount !== order.startCount || remains !== order.remains;
  return { ...order, startCount, remains, sequence: order.sequence + (hasMoved ? 1 : 0) };
}

function refuseRemainsAboveQuantity(quantity: number, remains: number): void {
  if (remains > quantity) throw new Refusal("remains_above_quantity", { quantity });
}
