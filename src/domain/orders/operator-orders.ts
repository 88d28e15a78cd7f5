// What the operator may do with orders beyond their status: send a failed order again, and correct the link of an order
// that has not been sent. docs/specification/orders.md#operator-orders.

import type { Delivery } from "../delivery/deliveries.ts";
import { placementOf } from "../delivery/deliveries.ts";
import type { ServiceType } from "../catalogue/service-types.ts";
import { Refusal, refusal } from "../values/error-table.ts";
import { type AskedOrder, extraFields, orderedQuantity, orderType } from "./order-fields.ts";
import type { OrderStatus } from "./order-statuses.ts";

interface KnownOrder {
  status: OrderStatus;
  delivery: Pick<Delivery, "placement"> | null;
}

/** The price of an order that is sent again. `then`: that of the failed order. `now`: the reseller's price now. */
export const RESEND_PRICES = ["then", "now"] as const;
export type ResendPrice = (typeof RESEND_PRICES)[number];

/**
 * Refuses to send an order again unless it failed, in which case its charge was refunded. `type`: the type of its
 * service now. Refuses: order_not_resendable, order_service_changed.
 */
export function refuseResend(
  order: { status: OrderStatus; extra: string | null },
  type: ServiceType,
): void {
  const { status } = order;
  if (status !== "FAILED") throw new Refusal("order_not_resendable", { status });
  if (orderType(order) !== type) throw refusal("order_service_changed");
}

/** Returns the quantity and the fields of a new order with the terms of an earlier one. */
export function askedAgain(order: { quantity: number; extra: string | null }): AskedOrder {
  const quantity = orderedQuantity(order);
  return order.extra === null ? { quantity } : { quantity, given: extraFields(order) };
}

/**
 * Returns whether the link may be corrected: the order waits to be sent, or the operator delivers it by hand. After
 * that a provider has the wrong link.
 */
export function isLinkCorrectable({ status, delivery }: KnownOrder): boolean {
  return delivery === null
    ? status === "PROCESSING"
    : status === "PENDING" && delivery.placement === "queued";
}

/** Refuses: order_link_fixed. */
export function refuseLinkCorrection(order: KnownOrder): void {
  if (isLinkCorrectable(order)) return;
  const { status } = order;
  throw new Refusal("order_link_fixed", { status, placement: placementOf(order.delivery) });
}
