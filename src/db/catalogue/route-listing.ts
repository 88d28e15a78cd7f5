// Records whether providers still list the services of our routes, according to their last sync. A first route is
// recorded in the service's row, further routes in service_routes.

import { parseExtra } from "../../domain/orders/order-fields.ts";
import type { RoutedService } from "../../domain/catalogue/route-listing.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import { hasListedDripFeed } from "../delivery/costs.ts";
import type { OrderWithDelivery } from "../delivery/deliveries.ts";
import type { Reader, Tx } from "../port/port.ts";
import { getProvider } from "../providers/providers.ts";
import { fields, query, select } from "../port/query.ts";
import { findService } from "./services.ts";
import { number } from "../port/table-definition.ts";
import { serviceRoutes } from "../tables/catalogue.ts";

const FURTHER = query({
  parameters: { providerId: number },
  columns: fields(serviceRoutes),
  text: `SELECT ${select(serviceRoutes)} FROM service_routes
    WHERE service_id IN (SELECT id FROM services WHERE provider_id = :providerId)
      OR service_id IN (SELECT own.service_id FROM service_routes AS own WHERE own.provider_id = :providerId)
    ORDER BY service_id, place`,
});

/** SQL for the number of routes of active services that are missing from the provider's list. */
export const delistedRoutesOf = (
  providerId: string,
) => `(SELECT count(*) FROM services WHERE services.provider_id = ${providerId} AND route_delisted = 1 AND services.active = 1)
    + (SELECT count(*) FROM service_routes JOIN services ON services.id = service_routes.service_id
      WHERE service_routes.provider_id = ${providerId} AND service_routes.delisted = 1 AND services.active = 1)`;

/** Lists services with several routes, at least one of them to this provider, and all of their routes. */
export function listRoutedServices(reader: Reader, providerId: number): RoutedService[] {
  const further = Map.groupBy(reader.all(FURTHER, { providerId }), ({ serviceId }) => serviceId);
  return reader.each([...further], ([id, rows]) => {
    const { name, active, delisted, suspended, ...service } = findService(reader, id)!;
    const first = {
      providerId: service.providerId!,
      providerService: service.providerService!,
      delisted: service.routeDelisted,
    };
    const routes = [first, ...rows].map((route) => ({
      providerService: route.providerId === providerId ? route.providerService : null,
      delisted: route.delisted,
      isProviderActive: getProvider(reader, route.providerId).active,
    }));
    return { id, name, active, delisted, suspended, routes };
  });
}

/** Records whether a further route is delisted. Returns false if the service has no such route. */
export function updateListed(
  tx: Tx,
  serviceId: string,
  { providerId, providerService }: Route,
  delisted: boolean,
): boolean {
  const route = tx.row(serviceRoutes.byKey, serviceId, providerId, providerService);
  if (route) tx.update(serviceRoutes, route, { delisted });
  return route !== undefined;
}

/**
 * Returns whether the order is a drip-feed that its route cannot deliver according to the provider's list. For a
 * service's first route, the operator's own setting takes precedence.
 */
export function lacksDripFeed(
  reader: Reader,
  { serviceId, extra, delivery }: OrderWithDelivery,
): boolean {
  if (extra === null || parseExtra(extra).runs === undefined) return false;
  if (hasListedDripFeed(reader, delivery) !== false) return false;
  const service = findService(reader, serviceId)!;
  const { providerId, providerService, dripfeed, dripfeedByHand } = service;
  const isFirst =
    providerId === delivery.providerId && providerService === delivery.providerService;
  return !(isFirst && dripfeed && dripfeedByHand);
}
