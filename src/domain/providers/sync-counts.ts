// The counts of a catalogue sync's changes.

import type { SyncPlan } from "./sync-plan.ts";
import type { RouteListing } from "../catalogue/route-listing.ts";

/** Returns the routes that are no longer listed, of services that stay active because other routes deliver them. */
export function delistedRoutes({ routes }: SyncPlan): RouteListing[] {
  return routes.filter(({ delisted, isOffered }) => delisted && isOffered);
}

/** Counts the plan's changes. A service that returns is counted in `reactivated`, not in `updated`. */
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
