// Where an order goes that one of its service's providers did not take: to the next route, or nowhere. docs/specification.md#delivery-routes.
// The move is written with the outcome that led to it, so that no crash comes between them.

import { nextSubmitAt, type SubmissionResult } from "../domain/deliveries.ts";
import { isTestOrder } from "../domain/sandbox.ts";
import { allowsNextRoute, isSameRoute, nextRoute, type Route } from "../domain/service-routes.ts";
import type { OrderWithDelivery } from "../db/deliveries.ts";
import { type Order, updateOrder } from "../db/orders.ts";
import type { Reader, Tx } from "../db/port.ts";
import { providerOf } from "../db/providers.ts";
import { readTriedRoutes } from "../db/service-routes.ts";
import type { Context } from "./context.ts";

export interface RetryTimes {
  /** How long after its creation an order that was not sent is retried. */
  placeRetryMs: number;
  /** Before the next try of an order that was not sent. */
  backoffMs: number;
}

/** A route, and when it is tried. */
export interface Onward {
  route: Route;
  isAtOnce: boolean;
}

/** Where the order goes after an attempt that ended so; null: nowhere, it was refused by all. Before the attempt is finished. */
export function routeAfter(
  reader: Reader,
  order: OrderWithDelivery,
  result: Extract<SubmissionResult, { outcome: "refused" | "not_sent" }>,
): Onward | null {
  const isRefused = result.outcome === "refused";
  // A test order stays with the sandbox: the routes of its service are for others.
  if (isTestOrder(order) || !allowsNextRoute(result)) {
    return isRefused ? null : { route: order.delivery, isAtOnce: false };
  }
  const { routes, current } = readTriedRoutes(reader, order);
  const ended = { ...current, tries: current.tries + 1, isRefused };
  return nextRoute(
    routes.map((each) => (isSameRoute(each, ended) ? ended : each)),
    ended,
  );
}

/** The order waits for its attempt on that route. */
export function queueOn(
  tx: Tx,
  order: OrderWithDelivery,
  { route, isAtOnce }: Onward,
  { placeRetryMs, backoffMs }: RetryTimes,
  { now }: Context,
): { order: Order; passedTo: string | null } {
  const { providerId, providerService } = route;
  const at = isAtOnce ? now : nextSubmitAt(order, now, backoffMs, placeRetryMs);
  const placed = { placement: "queued" as const, nextSubmitAt: at };
  const queued = {
    ...order,
    delivery: { ...order.delivery, ...placed, providerId, providerService },
  };
  updateOrder(tx, queued);
  return { order: queued, passedTo: isAtOnce ? providerOf(tx, providerId).name : null };
}

/** The provider to which the order has gone on from there and is now due; null: none. */
export function passedFrom(reader: Reader, order: Order, route: Route, now: number): string | null {
  const { status, delivery } = order;
  if (status !== "PENDING" || delivery?.placement !== "queued") return null;
  if (isSameRoute(delivery, route) || delivery.nextSubmitAt! > now) return null;
  return providerOf(reader, delivery.providerId).name;
}
