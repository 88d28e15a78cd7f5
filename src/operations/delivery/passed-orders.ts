// Moves queued orders of a deactivated provider to the next route of their service.
// docs/specification/delivery.md#delivery-routes.

import { isSameRoute, nextRoute } from "../../domain/catalogue/service-routes.ts";
import { getOrder } from "../../db/delivery/deliveries.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Tx } from "../../db/port/port.ts";
import { readTriedRoutes } from "../../db/catalogue/service-routes.ts";
import type { Context } from "../batch/context.ts";
import { queueOn } from "./order-routes.ts";

export interface MoveToNextRoute {
  orderId: number;
  /** The deactivated provider. */
  providerId: number;
}

export interface MovedOrder {
  order: Order;
  /** The provider that is tried at once; null: none, for example because the order is no longer queued. */
  passedTo: string | null;
}

/**
 * Takes a queued order off a deactivated provider. Returns null if the order stays there, because the provider is
 * active or the service has no other route.
 */
export function moveToNextRoute(
  tx: Tx,
  command: MoveToNextRoute,
  context: Context,
): MovedOrder | null {
  const order = getOrder(tx, command.orderId);
  const { providerId, placement } = order.delivery;
  if (order.status !== "PENDING" || placement !== "queued" || providerId !== command.providerId) {
    return { order, passedTo: null };
  }
  const { routes, current } = readTriedRoutes(tx, order);
  if (current.isActive) return null;
  const onward = nextRoute(routes, current);
  // The order waits for a paused route rather than going to an inactive one.
  const isElsewhere = onward !== null && !isSameRoute(onward.route, current);
  if (!isElsewhere) return null;
  return queueOn(tx, order, onward, { placeRetryMs: 0, backoffMs: 0 }, context);
}
