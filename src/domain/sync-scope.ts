// Which services a catalogue sync is about, and what is known of them.

import type { KnownService, SyncPlan, TargetService } from "./catalogue-sync.ts";
import type { RoutedService } from "./route-listing.ts";
import { CatalogueError, type UpstreamEntry } from "./upstream-services.ts";

/** Which of the provider's services a sync is about. */
export interface SyncScope {
  /** Their ids at the provider; absent: all. */
  only?: readonly string[] | undefined;
  /** Leaves out those that the catalogue does not have yet. */
  ignoresNew?: boolean;
  /** Further routes of ours: those are not added. Our service's name by its id there. */
  routed?: ReadonlyMap<string, string>;
  /** Services with further routes, of which one at least is to this provider. */
  services?: readonly RoutedService[];
}

/** Takes what is not named in `only` out of the target and the plan; returns the services of ours that are left. */
export function narrow(
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
