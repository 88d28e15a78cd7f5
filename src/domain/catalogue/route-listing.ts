// Compares routes of services with a provider's list, and decides which services become active or inactive.
// docs/specification/providers.md#sync.

import { type ServiceAvailability, availabilityWith } from "./service-routes.ts";

export interface SyncedRoute {
  /** The service's id at the synced provider; null for a route to another provider. */
  providerService: string | null;
  delisted: boolean;
  isProviderActive: boolean;
}

/** A service with a route to the synced provider, and all of its routes. */
export interface RoutedService extends ServiceAvailability {
  id: string;
  name: string;
  routes: readonly SyncedRoute[];
}

/** A route that is no longer listed, or listed again. */
export interface RouteListing {
  /** The id of our service. */
  id: string;
  name: string;
  providerService: string;
  delisted: boolean;
  /** Whether the service is active after the change. */
  isOffered: boolean;
}

/** The effect of a provider's list on one service. */
export interface ServiceListing {
  routes: RouteListing[];
  /** Null: no change. */
  becomes: "deactivated" | "reactivated" | null;
}

/** Decides the effect of a list. `isListed` takes an id at the provider, and returns null if the list does not say. */
export function decideListing(
  service: RoutedService,
  isListed: (providerService: string) => boolean | null,
): ServiceListing {
  const { id, name, active } = service;
  const after = service.routes.map((route) => {
    const listed = route.providerService === null ? null : isListed(route.providerService);
    return listed === null ? route : { ...route, delisted: !listed };
  });
  const standing = availabilityWith(service, after);
  const { active: isOffered } = standing;
  const routes = after.flatMap(({ providerService, delisted }, at) =>
    providerService === null || delisted === service.routes[at]!.delisted
      ? []
      : [{ id, name, providerService, delisted, isOffered }],
  );
  if (isOffered === active) return { routes, becomes: null };
  return { routes, becomes: active ? "deactivated" : "reactivated" };
}

/** Makes a service whose only route is the one to the synced provider. */
export function withOneRoute(
  service: Omit<RoutedService, "routes"> & {
    providerService: string | null;
    routeDelisted: boolean;
  },
): RoutedService {
  const { id, name, active, delisted, suspended, providerService } = service;
  const route = { providerService, delisted: service.routeDelisted, isProviderActive: true };
  return { id, name, active, delisted, suspended, routes: [route] };
}
