// Routes of services: the providers to which an order is sent, one after the other until one accepts.
// docs/specification/delivery.md#delivery-routes.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { ROUTES_LIMIT } from "../../domain/values/limits.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  isSameRoute,
  type PrioritizedRoute,
  type Route,
  availabilityWith,
  withoutRoute,
  withRoute,
} from "../../domain/catalogue/service-routes.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { listRoutes, writeRoutes } from "../../db/catalogue/service-routes.ts";
import { getProvider } from "../../db/providers/providers.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireProvider } from "../providers/providers.ts";
import { changeService, listServiceListeners } from "./service-changes.ts";

export interface PutRoute {
  /** The id of the service. */
  id: string;
  provider: string;
  /** The service's id at the provider. */
  providerService: string;
  /** 0 to PRIORITY_LIMIT; null: after all others. */
  priority: number | null;
  actor: Actor;
}

/**
 * Adds a route, or changes the priority of an existing one. Orders that were sent stay where they are. The first route
 * is the service's provider. Refuses: service_not_found, provider_not_found, provider_inactive, routes_too_many.
 */
export function putRoute(tx: Tx, command: PutRoute, context: Context): PrioritizedRoute[] {
  const { service, route, routes, isActive } = readRoute(tx, command);
  const after = withRoute(routes, { ...route, priority: command.priority });
  if (after.length > routes.length && !isActive) throw refusal("provider_inactive");
  if (after.length > ROUTES_LIMIT) throw refusal("routes_too_many");
  // Nothing is refused from here on.
  change(tx, command, service, routes, after, context);
  return after;
}

export interface RemoveRoute {
  id: string;
  provider: string;
  providerService: string;
  actor: Actor;
}

/**
 * Removes a route. A service without routes is manual. A service whose remaining providers are all inactive, or do not
 * list it, is not offered. Refuses: service_not_found, provider_not_found, route_not_found.
 */
export function removeRoute(tx: Tx, command: RemoveRoute, context: Context): PrioritizedRoute[] {
  const { service, route, routes } = readRoute(tx, command);
  const after = withoutRoute(routes, route);
  if (after.length === routes.length) throw refusal("route_not_found");
  // Nothing is refused from here on.
  change(tx, command, service, routes, after, context);
  return after;
}

function change(
  tx: Tx,
  command: RemoveRoute,
  service: Service,
  before: readonly PrioritizedRoute[],
  after: readonly PrioritizedRoute[],
  context: Context,
): void {
  const standing = availabilityWith(
    service,
    after.map(({ providerId, delisted }) => ({
      delisted,
      isProviderActive: getProvider(tx, providerId).active,
    })),
  );
  const listeners = listServiceListeners(tx, context);
  const written = writeRoutes(tx, { ...service, ...standing }, before, after);
  changeService(tx, listeners, service, written, context);
  auditRoute(tx, command, before, after, context);
}

function readRoute(reader: Reader, command: RemoveRoute) {
  const service = requireService(reader, command.id);
  const { providerId, active: isActive } = requireProvider(reader, command.provider);
  const route: Route = { providerId, providerService: command.providerService };
  return { service, route, isActive, routes: listRoutes(reader, service) };
}

function requireService(reader: Reader, id: string): Service {
  const service = findService(reader, id);
  if (!service) throw refusal("service_not_found");
  return service;
}

function auditRoute(
  tx: Tx,
  command: RemoveRoute,
  before: readonly PrioritizedRoute[],
  after: readonly PrioritizedRoute[],
  context: Context,
): void {
  const { id, provider, providerService, actor } = command;
  const { providerId } = requireProvider(tx, provider);
  const factsIn = (routes: readonly PrioritizedRoute[]): AuditFacts | null => {
    const found = routes.find((each) => isSameRoute(each, { providerId, providerService }));
    return found ? { provider, providerService, priority: found.priority } : null;
  };
  const isThere = factsIn(after) !== null;
  audit(tx, context, {
    actor,
    action: isThere ? "route.put" : "route.remove",
    subject: id,
    account: null,
    before: factsIn(before),
    after: factsIn(after),
  });
}
