// Ends the open request to cancel of an order whose status says what became of it.

import { cancelAfter } from "../domain/order-requests.ts";
import type { OrderStatus } from "../domain/orders.ts";
import { findOpenRequest, updateOrderRequest } from "../db/order-requests.ts";
import type { Tx } from "../db/port.ts";
import type { Context } from "./context.ts";

/** In the transaction of the change of status, and only for one that ends the delivery. */
export function endCancelRequest(
  tx: Tx,
  orderId: number,
  status: OrderStatus,
  { now }: Context,
): void {
  const state = cancelAfter(status);
  // A delivered order has none that is open.
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
