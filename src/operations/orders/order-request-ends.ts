// Ends an order's open request to cancel when the order's new status settles it.

import { cancelAfter } from "../../domain/orders/order-requests.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { findOpenRequest, updateOrderRequest } from "../../db/orders/order-requests.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Context } from "../batch/context.ts";

/** Ends the request, in the transaction that changes the status. Does nothing unless the status ends the delivery. */
export function endCancelRequest(
  tx: Tx,
  orderId: number,
  status: OrderStatus,
  { now }: Context,
): void {
  const state = cancelAfter(status);
  // Only ended orders become REFUNDED, so the request has already ended.
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
