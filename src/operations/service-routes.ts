// Routes: which providers an order of a service is tried at, one after the other. docs/specification.md#delivery-routes.

import type { AuditFacts } from "../domain/audit.ts";
import type { Actor } from "../domain/ledger.ts";
import { refusal } from "../domain/refusals.ts";
import {
  isSameRoute,
  type PrioritizedRoute,
  type Route,
  ROUTES_LIMIT,
  withoutRoute,
  withRoute,
} from "../domain/service-routes.ts";
import type { Reader, Tx } from "../db/port.ts";
import { listRoutes, writeRoutes } from "../db/service-routes.ts";
import { findService, type Service } from "../db/services.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";
import { requireProvider } from "./providers.ts";

export interface PutRoute {
  /** Of the service. */
  id: string;
  provider: string;
  /** The service's id there. */
  providerService: string;
  /** 0 to PRIORITY_LIMIT; null: after all others. */
  priority: number | null;
  actor: Actor;
}

/**
 * Adds a route, or gives one that is there another priority. Orders that were sent stay where they are. The first route is the
 * service's provider. Refuses: service_not_found, provider_not_found, routes_too_many.
 */
export function putRoute(tx: Tx, command: PutRoute, context: Context): PrioritizedRoute[] {
  const { service, route, routes } = readRoute(tx, command);
  const after = withRoute(routes, { ...route, priority: command.priority });
  if (after.length > ROUTES_LIMIT) throw refusal("routes_too_many");
  writeRoutes(tx, service, routes, after);
  auditRoute(tx, command, routes, after, context);
  return after;
}

export interface RemoveRoute {
  id: string;
  provider: string;
  providerService: string;
  actor: Actor;
}

/** Without its last route the service is manual. Refuses: service_not_found, provider_not_found, route_not_found. */
export function removeRoute(tx: Tx, command: RemoveRoute, context: Context): PrioritizedRoute[] {
  const { service, route, routes } = readRoute(tx, command);
  const after = withoutRoute(routes, route);
  if (after.length === routes.length) throw refusal("route_not_found");
  writeRoutes(tx, service, routes, after);
  auditRoute(tx, command, routes, after, context);
  return after;
}

function readRoute(
  reader: Reader,
  command: { id: string; provider: string; providerService: string },
) {
  const service = requireService(reader, command.id);
  const { providerId } = requireProvider(reader, command.provider);
  const route: Route = { providerId, providerService: command.providerService };
  return { service, route, routes: listRoutes(reader, service) };
}

function requireService(reader: Reader, id: string): Service {
  const service = findService(reader, id);
  if (!service) throw refusal("service_not_found");
  return service;
}

function auditRoute(
  tx: Tx,
  command: { id: string; provider: string; providerService: string; actor: Actor },
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
