// The scope of a catalogue sync: the services that it covers, and our routes to them.

import type { KnownService, SyncPlan, TargetService } from "./sync-plan.ts";
import type { RoutedService } from "../catalogue/route-listing.ts";
import { CatalogueError, type UpstreamEntry } from "./upstream-services.ts";

/** The provider's services that a sync covers. */
export interface SyncScope {
  /** Ids of the covered services at the provider; absent: all. */
  only?: readonly string[] | undefined;
  /** Whether services that are not in the catalogue are left out. */
  ignoresNew?: boolean;
  /**
   * Names of our services with a further route to the provider, by the id there. A service with such an id is not
   * added.
   */
  routed?: ReadonlyMap<string, string>;
  /** Our services with further routes, at least one of them to this provider. */
  services?: readonly RoutedService[];
}

/**
 * Removes services that are not in `only` from the target and the plan. Returns our services that are linked to one of
 * `only`.
 */
export function restrictToScope(
  upstream: readonly UpstreamEntry[],
  known: readonly KnownService[],
  target: Map<string, TargetService>,
  plan: SyncPlan,
  only: readonly string[] | undefined,
): readonly KnownService[] {
  if (only === undefined) return known;
  const there = new Set([...upstream, ...known.map(linkOf)].map(({ service }) => service));
  const missing = only.find((service) => !there.has(service));
  if (missing !== undefined) throw new CatalogueError(`it has no service ${missing}`);
  const named = new Set<string | null>(only);
  for (const service of target.keys()) if (!named.has(service)) target.delete(service);
  plan.skipped = plan.skipped.filter(({ service }) => named.has(service));
  plan.unreadable = plan.unreadable.filter(({ service }) => service === null || named.has(service));
  return known.filter(({ providerService }) => named.has(providerService));
}

const linkOf = ({ providerService }: KnownService) => ({ service: providerService });
