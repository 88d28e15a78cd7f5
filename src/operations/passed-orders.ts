// Queued orders of a provider that was deactivated: they go on to the next route of their service. docs/specification.md#delivery-routes.

import { isExpired } from "../domain/deliveries.ts";
import { nextRoute } from "../domain/service-routes.ts";
import { orderOf } from "../db/deliveries.ts";
import type { Order } from "../db/orders.ts";
import type { Tx } from "../db/port.ts";
import { readTriedRoutes } from "../db/service-routes.ts";
import type { Context } from "./context.ts";
import { failUnplaced } from "./deliveries.ts";
import { queueOn, type RetryTimes } from "./order-routes.ts";
import { SYSTEM_ACTOR } from "./order-transitions.ts";

export interface PassRoute extends RetryTimes {
  orderId: number;
  /** Which is given no orders any more. */
  providerId: number;
}

export interface PassedRoute {
  order: Order;
  /** The provider that is tried at once; null: none. */
  passedTo: string | null;
  isGivenUp: boolean;
}

/**
 * Takes a queued order off a provider that was deactivated. Without another route it waits as one that was not sent, and
 * fails when that has lasted too long. Null: the provider is active again.
 */
export function passRoute(tx: Tx, command: PassRoute, context: Context): PassedRoute | null {
  const order = orderOf(tx, command.orderId);
  const { providerId, placement } = order.delivery;
  if (order.status !== "PENDING" || placement !== "queued" || providerId !== command.providerId) {
    return { order, passedTo: null, isGivenUp: false };
  }
  const { routes, current } = readTriedRoutes(tx, order);
  if (current.isActive) return null;
  const onward = nextRoute(routes, current)!;
  if (!onward.isAtOnce && isExpired(order, 1, context.now, command.placeRetryMs)) {
    const cause = { actor: SYSTEM_ACTOR, note: "no provider of the service takes orders" };
    const failed = failUnplaced(tx, order, "expired", cause, context);
    return { order: failed, passedTo: null, isGivenUp: true };
  }
  return { ...queueOn(tx, order, onward, command, context), isGivenUp: false };
}
