// The life of an order: what it costs, which moves its status may make, and what each move refunds.
// The table is docs/specification.md#order-transitions. FAILED, CANCELLED and REFUNDED are final.

import { Refusal, refusal } from "./errors.ts";
import { multiplyDivideDown, multiplyDivideUp, TRANSFER_LIMIT_MICROS } from "./money.ts";
import type { PriceUnit } from "./services.ts";
import { isLabel } from "./text.ts";

export const QUANTITY_LIMIT = 1_000_000_000;
export const LINK_LENGTH_LIMIT = 2048;
export const LINK_FORM = `1 to ${LINK_LENGTH_LIMIT} characters without control characters`;
export const REFERENCE_LENGTH_LIMIT = 64;
export const REFERENCE_FORM = `1 to ${REFERENCE_LENGTH_LIMIT} characters without control characters or blanks round them`;
/** Of the internal id, a cuid2. */
export const ORDER_ID_PATTERN = "^[a-z0-9]{24}$";

export const ORDER_STATUSES = [
  "PENDING",
  "PROCESSING",
  "COMPLETED",
  "PARTIAL",
  "FAILED",
  "CANCELLED",
  "REFUNDED",
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

const TRANSITIONS: Record<OrderStatus, readonly OrderStatus[]> = {
  PENDING: ["PROCESSING", "FAILED", "CANCELLED"],
  PROCESSING: ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
  COMPLETED: ["REFUNDED"],
  PARTIAL: ["REFUNDED"],
  FAILED: [],
  CANCELLED: [],
  REFUNDED: [],
};

/** The states that an order in this one can move to. */
export function transitionsFrom(status: OrderStatus): readonly OrderStatus[] {
  return TRANSITIONS[status];
}

/** What an order must tell for its next move to be decided. */
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
  /** 0 when the move refunds nothing. */
  refundMicros: number;
}

/** A caller's own name for an order: 1 to 64 UTF-16 units, no control characters, no blanks round it. */
export function isReference(text: string): boolean {
  return isLabel(text, REFERENCE_LENGTH_LIMIT);
}

/** The charge of an order in micros, rounded up to a whole micro; exact up to TRANSFER_LIMIT_MICROS. docs/specification.md#amounts-charge. */
export function chargeMicros(priceMicros: number, per: PriceUnit, quantity: number): number {
  if (per === "order") return priceMicros;
  return multiplyDivideUp(priceMicros, quantity, per === "1000" ? 1000 : 1);
}

/** Only a balance that refunds raised above 2^53 can pay for such an order. Refuses: charge_too_large. */
export function refuseChargeAboveLimit(chargeMicros: number): void {
  if (chargeMicros > TRANSFER_LIMIT_MICROS) throw refusal("charge_too_large");
}

/**
 * Decides a move of the state table and its refund, never more than what is left of the charge.
 * `remains` counts for PARTIAL only. Refuses: order_transition_illegal, remains_above_quantity.
 */
export function decideTransition(
  order: TransitionInput,
  to: OrderStatus,
  remains = 0,
): OrderTransition {
  if (!TRANSITIONS[order.status].includes(to)) {
    throw new Refusal("order_transition_illegal", { from: order.status, to });
  }
  const leftMicros = order.chargeMicros - order.refundedMicros;
  switch (to) {
    case "PARTIAL":
      refuseRemainsAboveQuantity(order.quantity, remains);
      return {
        status: to,
        remains,
        refundMicros: Math.min(
          leftMicros,
          multiplyDivideDown(order.chargeMicros, remains, order.quantity),
        ),
      };
    case "COMPLETED":
      return { status: to, remains: 0, refundMicros: 0 };
    case "FAILED":
    case "CANCELLED":
    case "REFUNDED":
      return { status: to, remains: order.remains, refundMicros: leftMicros };
    case "PENDING":
    case "PROCESSING":
      return { status: to, remains: order.remains, refundMicros: 0 };
  }
}

/** Refuses: order_not_processing, remains_above_quantity. */
export function refuseProgress(order: TransitionInput, remains: number | null): void {
  if (order.status !== "PROCESSING") {
    throw new Refusal("order_not_processing", { status: order.status });
  }
  if (remains !== null) refuseRemainsAboveQuantity(order.quantity, remains);
}

function refuseRemainsAboveQuantity(quantity: number, remains: number): void {
  if (remains > quantity) throw new Refusal("remains_above_quantity", { quantity });
}
