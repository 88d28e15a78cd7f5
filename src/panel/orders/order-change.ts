// Previews the effects of a change of an order's status.

import type { Order } from "../../db/orders/orders.ts";
import { refuseOperatorTransition } from "../../domain/delivery/deliveries.ts";
import {
  decideTransition,
  type OrderTransition,
  transitionsFrom,
} from "../../domain/orders/order-transitions.ts";
import { type OperatorTarget } from "../../domain/orders/order-statuses.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";

/** The changes that an operator may make to an order, in the sequence of their buttons. */
export const VERBS: Record<OperatorTarget, string> = {
  COMPLETED: "Complete",
  PARTIAL: "End early",
  CANCELLED: "Cancel",
  FAILED: "Mark failed",
  REFUNDED: "Refund",
};
export const TARGETS = Object.keys(VERBS) as OperatorTarget[];

/** Returns the decision that the operation `transitionOrder` would make now. */
export function previewChange(
  order: Order,
  to: OperatorTarget,
  remains = 0,
): OrderTransition | Refusal {
  return attempt(() => {
    refuseOperatorTransition(order, to);
    return decideTransition(order, to, remains);
  });
}

/** Returns the changes that the order's status allows. */
export function changesOf(order: Order): OperatorTarget[] {
  return TARGETS.filter(
    (to) =>
      transitionsFrom(order.status).includes(to) && !(previewChange(order, to) instanceof Refusal),
  );
}
