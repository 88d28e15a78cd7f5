// What a catalogue sync comes to, in numbers.

import type { SyncPlan } from "./catalogue-sync.ts";
import type { RouteListing } from "./route-listing.ts";

/** Routes that are not listed any more, of services that are offered all the same: other routes deliver them. */
export function delistedRoutes({ routes }: SyncPlan): RouteListing[] {
  return routes.filter(({ isDelisted, isOffered }) => isDelisted && isOffered);
}

/** A service that returns is counted in `reactivated`, not in `updated`. */
export function countsOf(plan: SyncPlan) {
  const returning = plan.updated.filter(({ returns }) => returns).length;
  return {
    added: plan.added.length,
    updated: plan.updated.length - returning,
    unchanged: plan.unchanged,
    deactivated: plan.deactivated.length,
    reactivated: returning + plan.returned.length,
    delisted: delistedRoutes(plan).length,
    skipped: plan.skipped.length,
    unreadable: plan.unreadable.length,
    belowCost: plan.belowCost.length,
  };
}
