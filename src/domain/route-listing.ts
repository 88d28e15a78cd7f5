// Which of our routes a provider's list has, and what becomes of their services. docs/specification.md#sync.

import { type Standing, standingWith } from "./service-routes.ts";

export interface SyncedRoute {
  /** Its id at the provider that is synced; null: a route to another provider. */
  providerService: string | null;
  isDelisted: boolean;
  isProviderActive: boolean;
}

/** A service with a route to the provider that is synced, and all of its routes. */
export interface RoutedService extends Standing {
  id: string;
  name: string;
  routes: readonly SyncedRoute[];
}

/** A route that the list has no more, or has again. */
export interface RouteListing {
  /** Of our service. */
  id: string;
  name: string;
  providerService: string;
  isDelisted: boolean;
  /** Whether the service is active then. */
  isOffered: boolean;
}

/** What a list does to one service. */
export interface ServiceListing {
  routes: RouteListing[];
  /** Not offered any more, offered again, or as before. */
  becomes: "deactivated" | "reactivated" | null;
}

/** `isListed`: by the id at the provider; null: the list does not say. */
export function listingOf(
  service: RoutedService,
  isListed: (providerService: string) => boolean | null,
): ServiceListing {
  const { id, name, active } = service;
  const after = service.routes.map((route) => {
    const listed = route.providerService === null ? null : isListed(route.providerService);
    return listed === null ? route : { ...route, isDelisted: !listed };
  });
  const standing = standingWith(service, after);
  const { active: isOffered } = standing;
  const routes = after.flatMap(({ providerService, isDelisted }, at) =>
    providerService === null || isDelisted === service.routes[at]!.isDelisted
      ? []
      : [{ id, name, providerService, isDelisted, isOffered }],
  );
  if (isOffered === active) return { routes, becomes: null };
  return { routes, becomes: active ? "deactivated" : "reactivated" };
}

/** A service that has no other route than the one to the provider that is synced. */
export function onlyRouteOf(
  service: Omit<RoutedService, "routes"> & {
    providerService: string | null;
    isRouteDelisted: boolean;
  },
): RoutedService {
  const { id, name, active, delisted, suspended, providerService } = service;
  const route = { providerService, isDelisted: service.isRouteDelisted, isProviderActive: true };
  return { id, name, active, delisted, suspended, routes: [route] };
}
