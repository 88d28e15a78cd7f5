// Previews the effects of a change of an order's status.

import type { Order } from "../../db/orders/orders.ts";
import { refuseOperatorTransition } from "../../domain/delivery/deliveries.ts";
import {
  decideTransition,
  type OrderTransition,
  transitionsFrom,
} from "../../domain/orders/order-transitions.ts";
import { attempt, Refusal } from "../../domain/values/refusals.ts";

/** The statuses that an operator may give an order. */
export const TARGETS = ["COMPLETED", "PARTIAL", "CANCELLED", "FAILED", "REFUNDED"] as const;
export type Target = (typeof TARGETS)[number];

export const VERBS: Record<Target, string> = {
  COMPLETED: "Complete",
  PARTIAL: "End early",
  CANCELLED: "Cancel",
  FAILED: "Mark failed",
  REFUNDED: "Refund",
};

/** Returns the decision that the operation `transitionOrder` would make now. */
export function previewChange(order: Order, to: Target, remains = 0): OrderTransition | Refusal {
  return attempt(() => {
    refuseOperatorTransition(order, to);
    return decideTransition(order, to, remains);
  });
}

/** Returns the changes that the order's status allows. */
export function changesOf(order: Order): Target[] {
  return TARGETS.filter(
    (to) =>
      transitionsFrom(order.status).includes(to) && !(previewChange(order, to) instanceof Refusal),
  );
}
