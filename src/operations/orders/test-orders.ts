// Moves a test order when its reseller asks, instead of waiting for the sandbox. The state table applies.
// docs/specification/sandbox.md#post-test-order.

import type { Delivery } from "../../domain/delivery/deliveries.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  finishAttemptRow,
  type OrderWithDelivery,
  requireDelivery,
} from "../../db/delivery/deliveries.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Tx } from "../../db/port/port.ts";
import { requireCaller } from "../batch/callers.ts";
import type { Context } from "../batch/context.ts";
import { applyAccepted, beginAttempt, failUnplaced } from "../delivery/deliveries.ts";
import { applyTransition, type Cause } from "./order-transitions.ts";
import { requireOrder } from "./orders.ts";

export interface TransitionTestOrder {
  keyId: string;
  /** Either id of the order. */
  id: string;
  to: OrderStatus;
  /** Whole, not negative; for PARTIAL only. */
  remains: number;
}

/**
 * Moves a test order. Refuses what requireCaller refuses, then not_found, order_not_found, order_transition_illegal,
 * remains_above_quantity, and service_unavailable while the order is being sent.
 */
export function transitionTestOrder(tx: Tx, command: TransitionTestOrder, context: Context): Order {
  const key = requireCaller(tx, command.keyId, "order", context);
  if (key.testOf === null) throw refusal("not_found");
  const found = requireOrder(tx, command.id);
  if (found.resellerAccount !== key.resellerAccount) throw refusal("order_not_found");
  const order = requireDelivery(found);
  const transition = decideTransition(order, command.to, command.remains);
  const { placement } = order.delivery;
  if (placement === "sending") throw refusal("service_unavailable");
  // Nothing is refused from here on.
  const cause: Cause = {
    actor: { keyId: key.id, operator: null },
    note: "moved by a test request",
  };
  if (order.status === "PENDING" && command.to === "PROCESSING") {
    return place(tx, order, cause, context);
  }
  if (order.status === "PENDING" && command.to === "FAILED") {
    const outcome = placement === "unknown" ? "refused" : "expired";
    return failUnplaced(tx, order, outcome, cause, context);
  }
  // The sandbox has nothing more to report about it.
  const delivery: Partial<Delivery> = { nextPollAt: null };
  return applyTransition(tx, order, transition, cause, context, { delivery });
}

/** Accepts the order as the sandbox would. */
function place(tx: Tx, order: OrderWithDelivery, cause: Cause, context: Context): Order {
  let placed = order;
  if (order.delivery.placement === "queued") {
    const attempt = beginAttempt(tx, order, null, context);
    const finished = { outcome: "accepted", cause: cause.note, finishedAt: context.now } as const;
    finishAttemptRow(tx, attempt, finished);
    placed = attempt.order;
  }
  return applyAccepted(tx, placed, String(order.orderId), cause.actor, cause.note, context);
}
