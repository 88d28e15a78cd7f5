// Routes: the providers of a service, in the order in which an order tries them. docs/specification.md#delivery-routes.
// An order goes on to another one only if it was refused or certainly not sent, and never to one that refused it.

import type { SubmissionResult } from "./deliveries.ts";

export const PRIORITY_LIMIT = 1_000_000;
/** Of one service. */
export const ROUTES_LIMIT = 20;

/** A provider, and the service's id there. */
export interface Route {
  providerId: number;
  providerService: string;
}

export interface PrioritizedRoute extends Route {
  /** Whole, 0 to PRIORITY_LIMIT. The smallest is tried first. */
  priority: number;
  /** The provider's list did not have the service when it was last synced. */
  isDelisted: boolean;
}

/** A route, and what one order has come to there. */
export interface TriedRoute extends Route {
  /** Whether it is given orders: its provider is active and lists the service. */
  isActive: boolean;
  /** Attempts that were certainly not sent. */
  tries: number;
  /** The one attempt that a route refuses. */
  isRefused: boolean;
}

export function isSameRoute(one: Route, other: Route): boolean {
  return one.providerId === other.providerId && one.providerService === other.providerService;
}

/**
 * `routes` with this one in its place: after those of the same priority; without a priority after all of them. One that is
 * among them gets the priority.
 */
export function withRoute(
  routes: readonly PrioritizedRoute[],
  route: Route & { priority: number | null },
): PrioritizedRoute[] {
  const others = routes.filter((each) => !isSameRoute(each, route));
  const last = others.at(-1);
  const next = last ? Math.min(last.priority + 1, PRIORITY_LIMIT) : 0;
  const { providerId, providerService, priority } = route;
  const { isDelisted = false } = routes.find((each) => isSameRoute(each, route)) ?? {};
  const added = { providerId, providerService, priority: priority ?? next, isDelisted };
  // The sort is stable.
  return [...others, added].toSorted((a, b) => a.priority - b.priority);
}

export function withoutRoute(
  routes: readonly PrioritizedRoute[],
  route: Route,
): PrioritizedRoute[] {
  return routes.filter((each) => !isSameRoute(each, route));
}

/** Whether a service is offered, and why not. */
export interface Standing {
  active: boolean;
  /** Inactive because no provider lists it any more. */
  delisted: boolean;
  /** Inactive because its providers are, those at least that list it. */
  suspended: boolean;
}

/**
 * What becomes of a service with its routes: one that the operator did not deactivate is offered while any of them is given
 * orders. A service without routes is delivered by hand.
 */
export function standingWith(
  { active, delisted, suspended }: Standing,
  routes: readonly { isDelisted: boolean; isProviderActive: boolean }[],
): Standing {
  if (!active && !delisted && !suspended) return { active, delisted, suspended };
  const listed = routes.filter(({ isDelisted }) => !isDelisted);
  const isOffered = routes.length === 0 || listed.some((each) => each.isProviderActive);
  const isDelisted = !isOffered && listed.length === 0;
  return { active: isOffered, delisted: isDelisted, suspended: !isOffered && !isDelisted };
}

/** An outcome after which the order certainly is not with the provider, for a reason that lies there. */
type Unplaced = Extract<SubmissionResult, { outcome: "refused" | "not_sent" }>;

/**
 * Whether another route may be tried after this outcome. A refusal is one for whatever reason: lack of funds, a service that
 * is unknown there, a link or a quantity that another provider takes. An attempt that ended before the call says nothing
 * about its provider: it is made again where it was.
 */
export function allowsNextRoute(result: SubmissionResult): result is Unplaced {
  if (result.outcome === "refused") return true;
  return result.outcome === "not_sent" && !result.isUncalled;
}

/**
 * Where an order goes from `current`, which has refused it or was not reached, or which is given no orders any more. `isAtOnce` false: after the pause of a retry, because every route that is left was tried as often. Null: all have
 * refused it. `routes` in their order.
 */
export function nextRoute(
  routes: readonly TriedRoute[],
  current: TriedRoute,
): { route: Route; isAtOnce: boolean } | null {
  const open = routes.filter(({ isActive, isRefused }) => isActive && !isRefused);
  // What is given no orders was not tried now: the others are, however often they were.
  const tries = current.isActive ? current.tries : Number.POSITIVE_INFINITY;
  const next = open.find((each) => each.tries < tries);
  if (next) return { route: next, isAtOnce: true };
  const [first] = open;
  if (first) return { route: first, isAtOnce: false };
  return current.isRefused ? null : { route: current, isAtOnce: false };
}
