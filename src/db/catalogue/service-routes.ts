// Routes of services. The first is in the service's own row, so that placing an order reads only that row. Further
// routes are in service_routes. Also counts an order's attempts on each route.

import {
  isSameRoute,
  type PrioritizedRoute,
  type Route,
  type TriedRoute,
} from "../../domain/catalogue/service-routes.ts";
import type { OrderWithDelivery } from "../delivery/deliveries.ts";
import type { Reader, Tx } from "../port/port.ts";
import { getProvider } from "../providers/providers.ts";
import { fields, query, select } from "../port/query.ts";
import { findService, type Service } from "./services.ts";
import { boolean, number, text } from "../port/table-definition.ts";
import { type ServiceRouteRow, serviceRoutes, services } from "../tables/catalogue.ts";
import { attempts } from "../tables/delivery.ts";

const FURTHER = query({
  parameters: { serviceId: text },
  columns: fields(serviceRoutes),
  text: `SELECT ${select(serviceRoutes)} FROM service_routes WHERE service_id = :serviceId ORDER BY place`,
});

const TRIED = query({
  parameters: { orderId: number },
  columns: {
    ...fields(attempts, "providerId", "providerService"),
    tries: number,
    isRefused: boolean,
  },
  restrictedBy: ["orderId"],
  text: `SELECT ${select(attempts, "providerId", "providerService")},
      count(*) FILTER (WHERE outcome = 'not_sent') AS "tries",
      CASE WHEN count(*) FILTER (WHERE outcome = 'refused') > 0 THEN 1 ELSE 0 END AS "isRefused"
    FROM attempts WHERE order_id = :orderId GROUP BY provider_id, provider_service`,
});

const ROUTED_TO = query({
  parameters: { providerId: number },
  columns: { ...fields(services), isDeliveredElsewhere: boolean, isListedThere: boolean },
  text: `SELECT ${select(services)}, CASE WHEN EXISTS (
      SELECT 1 FROM providers WHERE providers.active = 1 AND providers.provider_id <> :providerId
        AND ((providers.provider_id = services.provider_id AND services.route_delisted = 0)
          OR EXISTS (SELECT 1 FROM service_routes AS others WHERE others.service_id = services.id
            AND others.provider_id = providers.provider_id AND others.delisted = 0))
    ) THEN 1 ELSE 0 END AS "isDeliveredElsewhere",
    CASE WHEN (services.provider_id = :providerId AND services.route_delisted = 0) OR EXISTS (
      SELECT 1 FROM service_routes AS own WHERE own.service_id = services.id
        AND own.provider_id = :providerId AND own.delisted = 0
    ) THEN 1 ELSE 0 END AS "isListedThere"
    FROM services WHERE services.provider_id = :providerId OR EXISTS (SELECT 1 FROM service_routes
      WHERE service_routes.service_id = services.id AND service_routes.provider_id = :providerId)
    ORDER BY services.name, services.id`,
});

const OF_PROVIDER = query({
  parameters: { providerId: number },
  columns: { providerService: text, service: text },
  text: `SELECT service_routes.provider_service AS "providerService", services.name AS "service"
    FROM service_routes JOIN services ON services.id = service_routes.service_id
    WHERE service_routes.provider_id = :providerId
    ORDER BY service_routes.provider_service, services.name, services.id`,
});

/**
 * Lists the services with any route to the provider. `isListedThere`: the provider lists the service.
 * `isDeliveredElsewhere`: another active provider lists it.
 */
export function listServicesRoutedTo(reader: Reader, providerId: number) {
  return reader
    .all(ROUTED_TO, { providerId })
    .map(({ isDeliveredElsewhere, isListedThere, ...service }) => ({
      service,
      isDeliveredElsewhere,
      isListedThere,
    }));
}

/** The routes of a service in the order in which they are tried. Empty for a manual service. */
export function listRoutes(reader: Reader, service: Service): PrioritizedRoute[] {
  const { providerId, providerService, providerPriority: priority } = service;
  if (providerId === null || providerService === null) return [];
  const first = { providerId, providerService, priority, delisted: service.routeDelisted };
  const further = reader.all(FURTHER, { serviceId: service.id });
  return [
    first,
    ...further.map((route) => ({
      providerId: route.providerId,
      providerService: route.providerService,
      priority: route.priority,
      delisted: route.delisted,
    })),
  ];
}

/**
 * Returns the route for a new order of a service whose first route is delisted: the first further route that is listed
 * and whose provider is active. Without such a route, returns the service, which holds its first route.
 */
export function listedRoute<First extends { id: string }>(
  reader: Reader,
  service: First,
): Route | First {
  const listed = reader
    .all(FURTHER, { serviceId: service.id })
    .find(({ delisted, providerId }) => !delisted && getProvider(reader, providerId).active);
  return listed ?? service;
}

/** Names of the services that have a further route to this provider, by their ids there. */
export function readFurtherRoutesTo(reader: Reader, providerId: number): Map<string, string> {
  const routes = reader.all(OF_PROVIDER, { providerId });
  return new Map(routes.map(({ providerService, service }) => [providerService, service]));
}

/**
 * The routes that the order's service has now, each with the order's attempts on it, and the route that the order is
 * on.
 */
export function readTriedRoutes(
  reader: Reader,
  { orderId, serviceId, delivery }: OrderWithDelivery,
): { routes: TriedRoute[]; current: TriedRoute } {
  const tried = reader.all(TRIED, { orderId });
  const routes = listRoutes(reader, findService(reader, serviceId)!);
  const withTries = ({ providerId, providerService }: Route): TriedRoute => {
    const route = { providerId, providerService };
    const { tries = 0, isRefused = false } = tried.find((each) => isSameRoute(each, route)) ?? {};
    const isListed = !routes.some((each) => each.delisted && isSameRoute(each, route));
    const provider = getProvider(reader, providerId);
    const isPaused = provider.pausedAt !== null;
    return { ...route, isActive: isListed && provider.active, isPaused, tries, isRefused };
  };
  return { routes: routes.map(withTries), current: withTries(delivery) };
}

/** Replaces the further routes of a service. Returns the service with its new first route, for the caller to write. */
export function writeRoutes(
  tx: Tx,
  service: Service,
  before: readonly PrioritizedRoute[],
  after: readonly PrioritizedRoute[],
): Service {
  const { id: serviceId } = service;
  const [first, ...further] = after;
  const rows = before.slice(1);
  const isAmong = (route: Route, routes: readonly Route[]) =>
    routes.some((each) => isSameRoute(each, route));
  for (const { providerId, providerService } of rows.filter((row) => !isAmong(row, further))) {
    tx.delete(serviceRoutes, { serviceId, providerId, providerService });
  }
  for (const [index, { providerId, providerService, priority, delisted }] of further.entries()) {
    const key = { serviceId, providerId, providerService };
    const changes = { priority, place: index + 1, delisted };
    if (isAmong(key, rows)) tx.update(serviceRoutes, key, changes);
    else tx.insert(serviceRoutes, { ...key, ...changes });
  }
  return {
    ...service,
    providerId: first?.providerId ?? null,
    providerService: first?.providerService ?? null,
    providerPriority: first?.priority ?? 0,
    routeDelisted: first?.delisted ?? false,
  };
}

/**
 * Lists the further routes that a service loses when its first route changes: the one that became the first, or all of
 * them if the service has no provider any more.
 */
export function listSupersededRoutes(
  reader: Reader,
  before: Service,
  after: Service,
): ServiceRouteRow[] {
  const { id, providerId, providerService } = after;
  if (before.providerId === providerId && before.providerService === providerService) return [];
  if (providerId === null || providerService === null)
    return reader.all(FURTHER, { serviceId: id });
  const same = reader.row(serviceRoutes.byKey, id, providerId, providerService);
  return same ? [same] : [];
}

export function deleteRoutes(tx: Tx, rows: readonly ServiceRouteRow[]): void {
  for (const row of rows) tx.delete(serviceRoutes, row);
}

/** Returns whether orders of the service are delivered: by an active provider that lists it, or by the operator. */
export function isDelivered(reader: Reader, service: Service): boolean {
  const routes = listRoutes(reader, service);
  const isOpen = ({ providerId, delisted }: PrioritizedRoute) =>
    !delisted && getProvider(reader, providerId).active;
  return routes.length === 0 || routes.some(isOpen);
}
