// Late reports: what a provider reports of an order that has ended here. Nothing is applied by itself; the operator accepts
// one or dismisses it. docs/specification.md#polling-late.

import {
  decideTransition,
  type OrderTransition,
  type TransitionInput,
} from "./order-transitions.ts";
import type { OrderStatus } from "./orders.ts";
import { Refusal, refusal } from "./refusals.ts";

export type LateDecision = "accepted" | "dismissed";

/** A report that nobody has decided yet. */
export interface OpenLateReport {
  reported: OrderStatus;
  /** Of a PARTIAL; null where it was stored without. */
  remains: number | null;
}

/** As an operator reads it: `PARTIAL, 40 remain`. */
export function lateText({ reported, remains }: OpenLateReport): string {
  return remains === null ? reported : `${reported}, ${remains} remain`;
}

/**
 * The transition of an order that has ended and is now as its provider says: COMPLETED becomes PARTIAL with the refund of
 * what remains, and what was cancelled or failed there is REFUNDED. Never more than what is left of the charge, and never a
 * debit: what would take money back can only be dismissed.
 * Refuses: late_report_inapplicable, late_remains_missing, remains_above_quantity.
 */
export function decideLateReport(order: TransitionInput, late: OpenLateReport): OrderTransition {
  const { status } = order;
  const { reported, remains } = late;
  if (reported === "PARTIAL" && status === "COMPLETED") {
    if (remains === null) throw refusal("late_remains_missing");
    // Nothing of a COMPLETED order was refunded: the rules of a delivery that ends here hold.
    return decideTransition({ ...order, status: "PROCESSING" }, "PARTIAL", remains);
  }
  const hasEnded = status === "COMPLETED" || status === "PARTIAL";
  if (hasEnded && (reported === "CANCELLED" || reported === "FAILED")) {
    return decideTransition(order, "REFUNDED");
  }
  throw new Refusal("late_report_inapplicable", { status, reported });
}
