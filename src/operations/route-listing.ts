// What a sync writes of routes that their provider lists no more, or again, and of the services that have them.

import type { SyncPlan } from "../domain/catalogue-sync.ts";
import type { Actor } from "../domain/ledger.ts";
import { onlyRouteOf, type RouteListing } from "../domain/route-listing.ts";
import { type Standing, standingWith } from "../domain/service-routes.ts";
import type { Reader, Tx } from "../db/port.ts";
import type { Provider } from "../db/providers.ts";
import { listRoutedServices, updateListed } from "../db/route-listing.ts";
import { findService, type Service } from "../db/services.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";

/** What changes of a service. */
export type ListedService = Standing & Pick<Service, "isRouteDelisted">;

/** By the services' ids. */
export function decideListings(
  reader: Reader,
  { providerId }: Provider,
  plan: SyncPlan,
): ReadonlyMap<string, ListedService> {
  const routed = new Map(listRoutedServices(reader, providerId).map((each) => [each.id, each]));
  const listings = Map.groupBy(plan.routes, ({ id }) => id);
  const returning = plan.updated.filter(({ returns }) => returns);
  const changed = [...plan.routes, ...plan.deactivated, ...plan.returned, ...returning];
  const ids = [...new Set(changed.map(({ id }) => id))];
  return new Map(
    reader.each(ids, (id): [string, ListedService] => {
      const service = findService(reader, id)!;
      const listingOf = (providerService: string | null) =>
        listings.get(id)?.find((each) => each.providerService === providerService);
      const { routes } = routed.get(id) ?? onlyRouteOf(service);
      const after = routes.map((route) => ({ ...route, ...listingOf(route.providerService) }));
      const isOwn = service.providerId === providerId;
      const { isDelisted = service.isRouteDelisted } =
        (isOwn && listingOf(service.providerService)) || {};
      return [id, { ...standingWith(service, after), isRouteDelisted: isDelisted }];
    }),
  );
}

/** Those of further routes; that of a first one is in its service's row, which the caller writes. */
export function writeListings(
  tx: Tx,
  provider: Provider,
  routes: readonly RouteListing[],
  actor: Actor,
  context: Context,
): void {
  const { providerId, name } = provider;
  tx.each(routes, ({ id, providerService, isDelisted, isOffered }) => {
    const isFurther = updateListed(tx, id, { providerId, providerService }, isDelisted);
    // Where the service goes with the route, its own entry says so.
    if (!isFurther && !isOffered) return;
    const route = `${name} ${providerService}`;
    audit(tx, context, {
      actor,
      action: "route.put",
      subject: id,
      account: null,
      before: { [route]: isDelisted ? "listed" : "not listed" },
      after: { [route]: isDelisted ? "not listed" : "listed" },
    });
  });
}
