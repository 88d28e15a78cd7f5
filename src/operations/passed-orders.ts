// Queued orders of a provider that was deactivated: they go on to the next route of their service. docs/specification.md#delivery-routes.

import { nextRoute } from "../domain/service-routes.ts";
import { orderOf } from "../db/deliveries.ts";
import type { Order } from "../db/orders.ts";
import type { Tx } from "../db/port.ts";
import { readTriedRoutes } from "../db/service-routes.ts";
import type { Context } from "./context.ts";
import { queueOn } from "./order-routes.ts";

export interface PassRoute {
  orderId: number;
  /** Which gets no new orders any more. */
  providerId: number;
}

export interface PassedRoute {
  order: Order;
  /** The provider that is tried at once; null: the order is no longer queued there. */
  passedTo: string | null;
}

/** Takes a queued order off a provider that was deactivated. Null: it stays, for the provider is active or no other is left. */
export function passRoute(tx: Tx, command: PassRoute, context: Context): PassedRoute | null {
  const order = orderOf(tx, command.orderId);
  const { providerId, placement } = order.delivery;
  if (order.status !== "PENDING" || placement !== "queued" || providerId !== command.providerId) {
    return { order, passedTo: null };
  }
  const { routes, current } = readTriedRoutes(tx, order);
  if (current.isActive) return null;
  const onward = nextRoute(routes, current);
  // A move at once has no pause.
  return onward?.isAtOnce
    ? queueOn(tx, order, onward, { placeRetryMs: 0, backoffMs: 0 }, context)
    : null;
}
