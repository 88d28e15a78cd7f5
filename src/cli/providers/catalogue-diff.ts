// Describes what a sync changes in the catalogue, one line per change, for the operator to read before it is applied.

import type { Service } from "../../db/catalogue/services.ts";
import type { ServiceTerms } from "../../operations/catalogue/services.ts";
import type { SyncedFields, SyncPlan } from "../../domain/providers/sync-plan.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { delistedRoutes } from "../../domain/providers/sync-counts.ts";

export function* diffLines(plan: SyncPlan): Generator<string> {
  for (const { providerService, id, ...service } of plan.added) {
    const own = id === undefined ? "" : `, here ${id}`;
    yield `+ ${service.name} (provider's ${providerService}${own}): ${termsOf(service)}`;
  }
  for (const { id, before, after, returns } of plan.updated) {
    yield `${returns ? "^" : "~"} ${after.name} (${id}): ${changesOf(before, after) || "is listed again"}`;
  }
  for (const { id, name } of plan.returned) yield `^ ${name} (${id}): is listed again`;
  for (const { id, name } of plan.deactivated) yield `- ${name} (${id}): no longer listed`;
  for (const { id, name, providerService } of delistedRoutes(plan)) {
    yield `% ${name} (${id}): provider's ${providerService} is no longer listed; other routes deliver it`;
  }
  for (const { service, name, reason } of plan.skipped) {
    yield `  ${name} (provider's ${service}) left out: ${reason}`;
  }
  for (const { entry, service, reason } of plan.unreadable) {
    const whose = service === null ? "" : ` (provider's ${service})`;
    yield `? entry ${entry}${whose} cannot be read, left out: ${reason}`;
  }
  if (plan.unreadable.some(({ service }) => service === null)) {
    yield "? an entry without a service id may be any of our services, so none of them counts as delisted";
  }
  for (const { id, name, priceMicros, rate, isPackage } of plan.belowCost) {
    const ours = formatMicros(priceMicros);
    const what = isPackage ? "the package" : "1000";
    yield `! ${name}${id ? ` (${id})` : ""} is sold at ${ours}; the provider charges ${rate} for ${what}`;
  }
}

function termsOf({ priceMicros, per, min, max, type, dripfeed }: SyncedFields): string {
  const unit = per === "1000" ? "" : ` per ${per}`;
  const typed = type === "default" ? "" : `, ${type}`;
  return `${formatMicros(priceMicros)} USD${unit}, ${min} to ${max}${typed}${dripfeed ? ", drip-feed" : ""}`;
}

function changesOf(before: SyncedFields, after: SyncedFields): string {
  const changes: string[] = [];
  if (before.name !== after.name) changes.push(`was called ${before.name}`);
  if (before.category !== after.category) {
    changes.push(`category ${before.category} → ${after.category}`);
  }
  if (termsOf(before) !== termsOf(after)) {
    changes.push(`${termsOf(before)} → ${termsOf(after)}`);
  }
  for (const flag of ["cancel", "refill"] as const) {
    if (before[flag] !== after[flag]) changes.push(`${after[flag] ? "with" : "without"} ${flag}`);
  }
  return changes.join(", ");
}

type Compared = SyncedFields &
  Pick<ServiceTerms, "per" | "private"> &
  Pick<Service, "active" | "providerId" | "providerService" | "refillDays">;

/** Describes what an import changes of a service. */
export function serviceChanges(before: Compared, after: Compared): string {
  const flags = [
    ["per", before.per, after.per],
    ["private", before.private, after.private],
    ["active", before.active, after.active],
    ["refill days", before.refillDays, after.refillDays],
    ["provider's service", before.providerService ?? "none", after.providerService ?? "none"],
  ].flatMap(([name, was, is]) => (was === is ? [] : [`${name} ${was} → ${is}`]));
  const terms = changesOf(before, after);
  // The new provider's name is not known here.
  const provider = before.providerId === after.providerId ? [] : ["another provider"];
  return [...(terms === "" ? [] : [terms]), ...flags, ...provider].join(", ");
}
