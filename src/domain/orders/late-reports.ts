// Late reports: a provider's reports about an order that has ended here. The operator accepts or dismisses them;
// nothing is applied automatically. docs/specification/delivery.md#polling-late.

import {
  decideTransition,
  type OrderTransition,
  type TransitionInput,
} from "./order-transitions.ts";
import { hasDelivered, type OrderStatus } from "./order-statuses.ts";
import { Refusal, refusal } from "../values/error-table.ts";

export type LateDecision = "accepted" | "dismissed";

/** A late report that has not been decided. */
export interface OpenLateReport {
  reported: OrderStatus;
  /** Remaining quantity of a PARTIAL; null when it was stored without one. */
  remains: number | null;
}

/** Describes a report for the operator: `PARTIAL, 40 remain`. */
export function lateText(
  { reported, remains }: OpenLateReport,
  wordOf: (status: OrderStatus) => string = (status) => status,
): string {
  const word = wordOf(reported);
  return remains === null ? word : `${word}, ${remains} remain`;
}

/**
 * Returns the transition that brings an ended order in line with its provider. COMPLETED becomes PARTIAL with a refund
 * of the remaining part. An order that was cancelled or failed there becomes REFUNDED. The refund never exceeds the
 * unrefunded part of the charge. A report that would debit the user can only be dismissed. Refuses:
 * late_report_inapplicable, late_remains_missing, remains_above_quantity.
 */
export function decideLateReport(order: TransitionInput, late: OpenLateReport): OrderTransition {
  const { status } = order;
  const { reported, remains } = late;
  if (reported === "PARTIAL" && status === "COMPLETED") {
    if (remains === null) throw refusal("late_remains_missing");
    // A COMPLETED order has no refunds, so the rules of an order that just ends apply.
    return decideTransition({ ...order, status: "PROCESSING" }, "PARTIAL", remains);
  }
  if (hasDelivered(status) && (reported === "CANCELLED" || reported === "FAILED")) {
    return decideTransition(order, "REFUNDED");
  }
  throw new Refusal("late_report_inapplicable", { status, reported });
}
