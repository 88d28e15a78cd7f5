// Ends an order's open request to cancel when the order's new status decides it.

import { cancelAfter } from "../../domain/orders/order-requests.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { findOpenRequest, updateOrderRequest } from "../../db/orders/order-requests.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Context } from "../batch/context.ts";

/** Runs in the transaction that changes the status. Does nothing unless the status ends the delivery. */
export function endCancelRequest(
  tx: Tx,
  orderId: number,
  status: OrderStatus,
  { now }: Context,
): void {
  const state = cancelAfter(status);
  // A delivered order has no open request to cancel.
  if (state === null || status === "REFUNDED") return;
  const request = findOpenRequest(tx, orderId, "cancel");
  if (!request) return;
  updateOrderRequest(tx, request, {
    state,
    unknown: false,
    server: null,
    nextAt: null,
    changedAt: now,
    note: request.note ?? `the order is ${status}`,
  });
}
