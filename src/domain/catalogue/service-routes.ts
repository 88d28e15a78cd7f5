// Routes: the providers of a service, in the sequence in which an order is sent to them. An order goes to another route
// only if it was refused or certainly not sent, and never back to a route that refused it.
// docs/specification/delivery.md#delivery-routes. The first route is in the service's row, so that an order costs no
// more because services can have several; only it sets the terms, because a service has one price. The order's row has
// the route that it is on; a trigger lets it change only while nothing was sent that may have arrived, and partial unique
// indexes allow one attempt that was not refused, and one refusal by route. A refusal for lack of funds leads on as well:
// the order is certainly not there. After an unknown outcome none follows, even if a refusal comes late.

import type { SubmissionResult } from "../delivery/deliveries.ts";

export const PRIORITY_LIMIT = 1_000_000;

/** A provider, and the service's id there. */
export interface Route {
  providerId: number;
  providerService: string;
}

export interface PrioritizedRoute extends Route {
  /** Whole, 0 to PRIORITY_LIMIT; the smallest is tried first. */
  priority: number;
  /** Whether the service was missing from the provider's list at the last sync. */
  delisted: boolean;
}

/** A route, with the results of one order's attempts there. */
export interface TriedRoute extends Route {
  /** Whether the route gets orders: its provider is active and lists the service. */
  isActive: boolean;
  /** Whether submissions to its provider are paused. */
  isPaused: boolean;
  /** Attempts that were certainly not sent. */
  tries: number;
  /** Whether the provider refused the order, and so never gets it again. */
  isRefused: boolean;
}

export function isSameRoute(one: Route, other: Route): boolean {
  return one.providerId === other.providerId && one.providerService === other.providerService;
}

/**
 * Adds a route after those of the same priority; without a priority, after all routes. An existing route gets the new
 * priority.
 */
export function withRoute(
  routes: readonly PrioritizedRoute[],
  route: Route & { priority: number | null },
): PrioritizedRoute[] {
  const others = routes.filter((each) => !isSameRoute(each, route));
  const last = others.at(-1);
  const next = last ? Math.min(last.priority + 1, PRIORITY_LIMIT) : 0;
  const { providerId, providerService, priority } = route;
  const { delisted = false } = routes.find((each) => isSameRoute(each, route)) ?? {};
  const added = { providerId, providerService, priority: priority ?? next, delisted };
  // The sort is stable.
  return [...others, added].toSorted((a, b) => a.priority - b.priority);
}

export function withoutRoute(
  routes: readonly PrioritizedRoute[],
  route: Route,
): PrioritizedRoute[] {
  return routes.filter((each) => !isSameRoute(each, route));
}

/** Whether a service is active, and if not, why. All false: the operator deactivated it. */
export interface ServiceAvailability {
  active: boolean;
  /** Inactive because no provider lists it any more. */
  delisted: boolean;
  /** Inactive because every provider that lists it is inactive. */
  suspended: boolean;
}

/**
 * Returns the availability of a service with these routes. Unless the operator deactivated it, it is active while any
 * route gets orders. A service without routes is delivered by hand.
 */
export function availabilityWith(
  { active, delisted, suspended }: ServiceAvailability,
  routes: readonly { delisted: boolean; isProviderActive: boolean }[],
): ServiceAvailability {
  if (!active && !delisted && !suspended) return { active, delisted, suspended };
  const listed = routes.filter((route) => !route.delisted);
  const isOffered = routes.length === 0 || listed.some((each) => each.isProviderActive);
  const isDelisted = !isOffered && listed.length === 0;
  return { active: isOffered, delisted: isDelisted, suspended: !isOffered && !isDelisted };
}

/** An outcome after which the order is certainly not with the provider, for a reason on the provider's side. */
type Unplaced = Extract<SubmissionResult, { outcome: "refused" | "not_sent" }>;

/**
 * Returns whether another route may be tried after this outcome. Every refusal allows it: another provider may accept
 * the order, whatever the reason. An attempt that ended before the call says nothing about its provider, so it is
 * repeated on the same route.
 */
export function allowsNextRoute(result: SubmissionResult): result is Unplaced {
  if (result.outcome === "refused") return true;
  return result.outcome === "not_sent" && !result.providerNotCalled;
}

/**
 * Returns the next route after `current`, which has refused the order, was not reached, or gets no new orders. Null:
 * every route has refused the order. `isImmediate` false: wait before the next attempt, because all remaining routes
 * are paused or were tried equally often. `routes` are sorted by priority.
 */
export function nextRoute(
  routes: readonly TriedRoute[],
  current: TriedRoute,
): { route: Route; isImmediate: boolean } | null {
  const open = routes.filter(({ isActive, isRefused }) => isActive && !isRefused);
  const ready = open.filter(({ isPaused }) => !isPaused);
  // If `current` is inactive or paused, no attempt was made on it: any other route may follow, whatever its attempts.
  const isTried = current.isActive && !current.isPaused;
  const tries = isTried ? current.tries : Number.POSITIVE_INFINITY;
  const next = ready.find((each) => each.tries < tries);
  if (next) return { route: next, isImmediate: true };
  // An order whose routes are all paused waits on one of them.
  const first = ready[0] ?? open.find((each) => isSameRoute(each, current)) ?? open[0];
  if (first) return { route: first, isImmediate: false };
  return current.isRefused ? null : { route: current, isImmediate: false };
}
