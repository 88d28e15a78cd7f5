// Chooses the next route after a provider refused an order or could not be reached. The route is written in the
// transaction of that outcome, so a crash cannot separate them. docs/specification/delivery.md#delivery-routes.

import { nextSubmitAt, type SubmissionResult } from "../../domain/delivery/deliveries.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import {
  allowsNextRoute,
  isSameRoute,
  nextRoute,
  type Route,
} from "../../domain/catalogue/service-routes.ts";
import type { OrderWithDelivery } from "../../db/delivery/deliveries.ts";
import { type Order, updateOrder } from "../../db/orders/orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { retryMsAt } from "../../domain/providers/fund-holds.ts";
import { getProvider } from "../../db/providers/providers.ts";
import { readTriedRoutes } from "../../db/catalogue/service-routes.ts";
import type { Context } from "../batch/context.ts";
import { exceedsHold } from "./fund-holds.ts";

export interface RetryTimes {
  /** Time from an order's creation during which it is retried if it was not sent. */
  placeRetryMs: number;
  /** Delay before the next try of an order that was not sent. */
  backoffMs: number;
}

/** The route that an order takes next, and whether it is tried at once. */
export interface Onward {
  route: Route;
  isImmediate: boolean;
}

/**
 * Returns the route after an attempt with this result; null when all routes have refused, or when the order would have
 * to wait for funds and the limit for waiting orders is reached. Runs before the attempt is finished. `isHeld`: the
 * order waits for funds at its provider unless another route is ready.
 */
export function routeAfter(
  reader: Reader,
  order: OrderWithDelivery,
  result: Extract<SubmissionResult, { outcome: "refused" | "not_sent" }>,
  now: number,
  isHeld = false,
): Onward | null {
  const isRefused = result.outcome === "refused";
  // A test order stays with the sandbox: the routes of its service are for live orders.
  if (isTestOrder(order) || !allowsNextRoute(result)) {
    return isRefused ? null : { route: order.delivery, isImmediate: false };
  }
  const { routes, current } = readTriedRoutes(reader, order);
  const ended = {
    ...current,
    tries: current.tries + 1,
    isRefused,
    isPaused: isHeld || current.isPaused,
  };
  const next = nextRoute(
    routes.map((each) => (isSameRoute(each, ended) ? ended : each)),
    ended,
  );
  const waits = isRefused && next !== null && !next.isImmediate;
  return waits && exceedsHold(reader, order, next.route.providerId, now) ? null : next;
}

/** Queues the order for its next attempt, on the given route. */
export function queueOn(
  tx: Tx,
  order: OrderWithDelivery,
  { route, isImmediate }: Onward,
  { placeRetryMs, backoffMs }: RetryTimes,
  { now }: Context,
): { order: Order; passedTo: string | null } {
  const { providerId, providerService } = route;
  const retryMs = retryMsAt(getProvider(tx, providerId), order, placeRetryMs);
  const at = isImmediate ? now : nextSubmitAt(order, now, backoffMs, retryMs);
  const placed = { placement: "queued" as const, nextSubmitAt: at };
  const queued = {
    ...order,
    delivery: { ...order.delivery, ...placed, providerId, providerService },
  };
  updateOrder(tx, queued);
  return { order: queued, passedTo: isImmediate ? getProvider(tx, providerId).name : null };
}

/**
 * Returns the name of the provider to which the order has moved from `route`, if it is due there now; otherwise null.
 */
export function passedFrom(reader: Reader, order: Order, route: Route, now: number): string | null {
  const { status, delivery } = order;
  if (status !== "PENDING" || delivery?.placement !== "queued") return null;
  if (isSameRoute(delivery, route) || delivery.nextSubmitAt! > now) return null;
  return getProvider(reader, delivery.providerId).name;
}
