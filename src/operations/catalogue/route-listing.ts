// Records, during a sync, the routes that their provider stopped or resumed listing, and activates or deactivates
// services accordingly.

import type { SyncPlan } from "../../domain/providers/sync-plan.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { withOneRoute, type RouteListing } from "../../domain/catalogue/route-listing.ts";
import {
  type ServiceAvailability,
  availabilityWith,
} from "../../domain/catalogue/service-routes.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import type { Provider } from "../../db/providers/providers.ts";
import { listRoutedServices, updateListed } from "../../db/catalogue/route-listing.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

/** The fields of a service that are set when one of its routes is delisted or listed again. */
export type ListedService = ServiceAvailability & Pick<Service, "routeDelisted">;

/** Decides what changes in the services. Returns the changes by the id of the service. */
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
      const { routes } = routed.get(id) ?? withOneRoute(service);
      const after = routes.map((route) => ({ ...route, ...listingOf(route.providerService) }));
      const isOwn = service.providerId === providerId;
      const { delisted = service.routeDelisted } =
        (isOwn && listingOf(service.providerService)) || {};
      return [id, { ...availabilityWith(service, after), routeDelisted: delisted }];
    }),
  );
}

/** Writes the listings of further routes. The caller writes that of a first route, in the row of its service. */
export function writeListings(
  tx: Tx,
  provider: Provider,
  routes: readonly RouteListing[],
  actor: Actor,
  context: Context,
): void {
  const { providerId, name } = provider;
  tx.each(routes, ({ id, providerService, delisted, isOffered }) => {
    const isFurther = updateListed(tx, id, { providerId, providerService }, delisted);
    // If the service is deactivated too, that has its own audit entry.
    if (!isFurther && !isOffered) return;
    const route = `${name} ${providerService}`;
    audit(tx, context, {
      actor,
      action: "route.put",
      subject: id,
      account: null,
      before: { [route]: delisted ? "listed" : "not listed" },
      after: { [route]: delisted ? "not listed" : "listed" },
    });
  });
}
