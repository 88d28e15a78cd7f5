// Catalogue sync: compares a provider's list of services with our catalogue, and plans which services to add, update
// and deactivate. Prices are computed from the digits of rates, never from floats.
// docs/specification/providers.md#sync.

import type { KnownService, SyncPlan, TargetService, SyncedFields } from "./sync-plan.ts";
import { type Pricing, priceAt } from "./pricing.ts";
import { parseDecimal } from "./rate-decimals.ts";
import { QUANTITY_LIMIT } from "../orders/orders.ts";
import {
  fitsUnit,
  isPackage,
  mayDripFeed,
  parseServiceType,
  type ServiceType,
  standardUnit,
} from "../catalogue/service-types.ts";
import { decideListing, withOneRoute, type ServiceListing } from "../catalogue/route-listing.ts";
import { restrictToScope, type SyncScope } from "./sync-scope.ts";
import {
  CatalogueError,
  isBelowCost,
  type UpstreamEntry,
  type UpstreamService,
} from "./upstream-services.ts";

/**
 * Compares the provider's whole list with our catalogue. Throws CatalogueError if the list must not be applied at all.
 */
export function planSync(
  upstream: readonly UpstreamEntry[],
  services: readonly KnownService[],
  pricing: Pricing,
  scope: SyncScope = {},
): SyncPlan {
  const plan: SyncPlan = {
    added: [],
    updated: [],
    unchanged: 0,
    deactivated: [],
    returned: [],
    routes: [],
    skipped: [],
    unreadable: [],
    belowCost: [],
  };
  const target = targetServices(upstream, pricing, plan);
  refuseUnreadable(upstream.length, plan.unreadable);
  refuseEmptied(target, services, plan);
  const known = restrictToScope(upstream, services, target, plan, scope.only);
  const linked = new Set(known.map((service) => service.providerService));
  for (const service of target.values()) {
    if (linked.has(service.service)) continue;
    const routed = scope.routed?.get(service.service);
    if (routed !== undefined) {
      const reason = `a route of ${routed}`;
      plan.skipped.push({ service: service.service, name: service.name, reason });
    } else if (scope.ignoresNew !== true) {
      const { service: providerService, rate: _, ...fields } = service;
      plan.added.push({ ...fields, providerService });
      warnBelowCost(plan, null, fields, service);
    }
  }
  const unreadable = new Set(plan.unreadable.map(({ service }) => service));
  // An unreadable entry without an id may be any service that is missing from the list.
  const isListed = (service: string) => {
    if (target.has(service)) return true;
    const isSaid = !unreadable.has(service) && !unreadable.has(null);
    return isSaid && (scope.only?.includes(service) ?? true) ? false : null;
  };
  const { services: routed = [] } = scope;
  const routedById = new Map(routed.map((service) => [service.id, service]));
  for (const service of known) {
    const listing = decideListing(routedById.get(service.id) ?? withOneRoute(service), isListed);
    routedById.delete(service.id);
    planLinked(plan, service, target.get(service.providerService ?? ""), listing);
  }
  for (const service of routedById.values()) {
    planListing(plan, service, decideListing(service, isListed));
  }
  return plan;
}

function planListing(
  plan: SyncPlan,
  { id, name }: { id: string; name: string },
  { routes, becomes }: ServiceListing,
): void {
  plan.routes.push(...routes);
  if (becomes === "deactivated") plan.deactivated.push({ id, name });
  if (becomes === "reactivated") plan.returned.push({ id, name });
}

/** Throws if the list would empty the catalogue: probably the provider only renamed its types. */
function refuseEmptied(
  target: ReadonlyMap<string, TargetService>,
  known: readonly KnownService[],
  { unreadable }: SyncPlan,
): void {
  if (target.size > 0 || !known.some((service) => service.active)) return;
  const which = unreadable.length > 0 ? " that can be read" : "";
  throw new CatalogueError(`the provider's list has no service of a known type${which}`);
}

/** Throws if more than half of the entries are unreadable, because such a list is not usable. */
function refuseUnreadable(entries: number, unreadable: SyncPlan["unreadable"]): void {
  const [first] = unreadable;
  if (!first || unreadable.length * 2 <= entries) return;
  throw new CatalogueError(
    `${unreadable.length} of ${entries} entries cannot be read; the first is entry ${first.entry}: ${first.reason}`,
  );
}

function planLinked(
  plan: SyncPlan,
  known: KnownService,
  target: TargetService | undefined,
  listing: ServiceListing,
): void {
  const { id, name, category, priceMicros, per, min, max, type, dripfeed } = known;
  const { cancel, refill } = known;
  if (!target) return planListing(plan, known, listing);
  plan.routes.push(...listing.routes);
  const terms = { name, category, priceMicros, per, min, max, type, dripfeed };
  const before = { ...terms, cancel, refill };
  const after = {
    name: known.nameByHand ? name : target.name,
    category: known.categoryByHand ? category : target.category,
    min: known.minByHand ? min : target.min,
    max: known.maxByHand ? max : target.max,
    ...typedTerms(known, target),
    cancel: known.cancelByHand ? cancel : target.cancel,
    refill: known.refillByHand ? refill : target.refill,
  };
  // A bound set by hand conflicts with the provider's new one. Both of our bounds stay until the operator decides.
  if (after.min > after.max) Object.assign(after, { min, max });
  const returns = listing.becomes === "reactivated";
  if (returns || !sameFields(before, after)) plan.updated.push({ id, before, after, returns });
  else plan.unchanged += 1;
  warnBelowCost(plan, id, after, target);
}

/**
 * Returns the terms that depend on the type. The provider's rate is for a package or for 1,000 units, so it sets the
 * price only of a service that is sold in the same way. A new type that does not fit the price unit is not applied.
 */
function typedTerms(
  known: KnownService,
  target: TargetService,
): Pick<SyncedFields, "priceMicros" | "per" | "type" | "dripfeed"> {
  const wanted = known.typeByHand ? known.type : target.type;
  const keepsPrice = known.priceByHand || isPackage(wanted) !== isPackage(target.type);
  const { priceMicros, per } = keepsPrice ? known : target;
  const type = fitsUnit({ type: wanted, per }) ? wanted : known.type;
  const dripfeed = known.dripfeedByHand ? known.dripfeed : target.dripfeed;
  return { priceMicros, per, type, dripfeed: dripfeed && mayDripFeed({ type, per }) };
}

function targetServices(
  upstream: readonly UpstreamEntry[],
  pricing: Pricing,
  plan: SyncPlan,
): Map<string, TargetService> {
  if (upstream.length === 0) throw new CatalogueError("the provider's list is empty");
  const times = new Map<string | null, number>();
  for (const { service } of upstream) times.set(service, (times.get(service) ?? 0) + 1);
  const target = new Map<string, TargetService>();
  for (const [index, entry] of upstream.entries()) {
    const { service } = entry;
    const isUnreadable = "unreadable" in entry;
    const type = isUnreadable ? null : parseServiceType(entry.type);
    if (!isUnreadable && !type) {
      plan.skipped.push({ service: entry.service, name: entry.name, reason: `type ${entry.type}` });
      continue;
    }
    const read = isUnreadable ? entry.unreadable : targetService(entry, type!, pricing);
    // It is not known which of the repeated entries is right.
    const isRepeated = typeof read !== "string" && times.get(service) !== 1;
    const result = isRepeated ? "its service is listed more than once" : read;
    if (typeof result !== "string") target.set(result.service, result);
    else plan.unreadable.push({ entry: index + 1, service, reason: result });
  }
  return target;
}

/** Returns the entry as a service of our catalogue, or the reason why it cannot be sold. */
function targetService(
  entry: UpstreamService,
  type: ServiceType,
  pricing: Pricing,
): TargetService | string {
  const { service, name, category, rate } = entry;
  const decimal = parseDecimal(rate);
  const priceMicros = decimal && priceAt(decimal, category, pricing);
  if (priceMicros === null) return `its rate ${rate} is no price`;
  // Providers write 0 for "no minimum" and 2147483647 for "no maximum".
  const min = Math.max(entry.min, 1);
  const max = Math.min(entry.max, QUANTITY_LIMIT);
  if (min > max) return `its min ${entry.min} is above its max ${entry.max}`;
  const per = standardUnit(type);
  const dripfeed = entry.dripfeed && mayDripFeed({ type, per });
  const { cancel, refill } = entry;
  const terms = { priceMicros, per, min, max, type, dripfeed, cancel, refill };
  return { service, name, category, rate, ...terms };
}

function warnBelowCost(
  plan: SyncPlan,
  id: string | null,
  service: SyncedFields,
  { rate, type }: TargetService,
): void {
  if (!isBelowCost(service, parseDecimal(rate)!, isPackage(type))) return;
  const { name, priceMicros } = service;
  plan.belowCost.push({ id, name, priceMicros, rate, isPackage: isPackage(type) });
}

function sameFields(a: SyncedFields, b: SyncedFields): boolean {
  const names = Object.keys(a) as (keyof SyncedFields)[];
  return names.every((name) => a[name] === b[name]);
}
