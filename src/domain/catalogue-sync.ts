// Catalogue sync: compares a provider's list of services with our catalogue and plans what to add, update and deactivate.
// docs/specification.md#sync. Rates are decimals of any length, so prices are computed from digits, never from a float.

import { AMOUNT_LIMIT_MICROS } from "./money.ts";
import { QUANTITY_LIMIT } from "./orders.ts";
import type { PriceUnit } from "./services.ts";

/** A decimal number: digits ÷ 10^scale. Never negative. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

/** A service as its provider lists it. */
export interface UpstreamService {
  service: string;
  name: string;
  /** DEFAULT_CATEGORY where the provider says none. */
  category: string;
  type: string;
  /** The price of 1,000 units. */
  rate: string;
  min: number;
  max: number;
}

/** An entry of the provider's list that cannot be read. */
export interface UnreadableEntry {
  /** The id of the service at its provider, masked; null where the entry does not say it. */
  service: string | null;
  /** What is wrong with it, for the operator. */
  unreadable: string;
}

export type UpstreamEntry = UpstreamService | UnreadableEntry;

/** The fields of one of our services that a sync needs. */
export interface KnownService {
  id: string;
  providerService: string | null;
  name: string;
  category: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  active: boolean;
  nameByHand: boolean;
  categoryByHand: boolean;
  priceByHand: boolean;
  minByHand: boolean;
  maxByHand: boolean;
  delisted: boolean;
}

/** The fields of a service that a sync takes over from the provider. */
export interface SyncedFields {
  name: string;
  category: string;
  priceMicros: number;
  min: number;
  max: number;
}

export interface SyncPlan {
  added: (SyncedFields & { providerService: string })[];
  /** Linked services that change; `returns`: a delisted one is listed again, so the sync reactivates it. */
  updated: { id: string; before: SyncedFields; after: SyncedFields; returns: boolean }[];
  unchanged: number;
  deactivated: { id: string; name: string }[];
  skipped: { service: string; name: string; reason: string }[];
  /** Left out; the services that they may stand for stay as they are. `entry` counts from 1. */
  unreadable: { entry: number; service: string | null; reason: string }[];
  /** Services of ours that would be sold below the provider's rate once the plan is applied. */
  belowCost: { id: string | null; name: string; priceMicros: number; rate: string }[];
}

const DECIMAL = /^(\d{1,15})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;
const SYNCED_TYPE = "default";

/** Null when the text is not a decimal number of at most 15 digits before and 30 after the point. */
export function parseDecimal(text: string): Decimal | null {
  const match = DECIMAL.exec(text);
  if (!match) return null;
  const [, whole, fraction = "", exponent = "0"] = match;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole! + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** `rate × (1 + markup %)` in micros, rounded up to a whole micro. Null above AMOUNT_LIMIT_MICROS. */
export function priceWithMarkup(rate: Decimal, markupPercent: Decimal): number | null {
  const factor = 100n * 10n ** BigInt(markupPercent.scale) + markupPercent.digits;
  const numerator = rate.digits * factor * 1_000_000n;
  const divisor = 100n * 10n ** BigInt(rate.scale + markupPercent.scale);
  const micros = (numerator + divisor - 1n) / divisor;
  return micros <= BigInt(AMOUNT_LIMIT_MICROS) ? Number(micros) : null;
}

/** Whether the price is below the provider's. A price per order is compared with the cost of the largest quantity. */
export function isBelowCost(
  service: { priceMicros: number; per: PriceUnit; max: number },
  rate: Decimal,
): boolean {
  const units = { "1000": 1000n, "1": 1n, order: BigInt(service.max) }[service.per];
  const scaledPrice = BigInt(service.priceMicros) * 1000n * 10n ** BigInt(rate.scale);
  return scaledPrice < rate.digits * units * 1_000_000n;
}

/** An upstream service as it would be in our catalogue. */
interface TargetService extends SyncedFields {
  service: string;
  rate: string;
}

/** A provider's list that cannot be imported, and why. */
export class CatalogueError extends Error {
  override name = "CatalogueError";
}

/** Compares the provider's whole list with our catalogue. Throws CatalogueError: then nothing must be changed. */
export function planSync(
  upstream: readonly UpstreamEntry[],
  known: readonly KnownService[],
  markupPercent: Decimal,
): SyncPlan {
  const plan: SyncPlan = {
    added: [],
    updated: [],
    unchanged: 0,
    deactivated: [],
    skipped: [],
    unreadable: [],
    belowCost: [],
  };
  const target = targetServices(upstream, markupPercent, plan);
  refuseUnreadable(upstream.length, plan.unreadable);
  const linked = new Set(known.map((service) => service.providerService));
  for (const service of target.values()) {
    if (!linked.has(service.service)) {
      const { service: providerService, rate, ...fields } = service;
      plan.added.push({ ...fields, providerService });
      warnBelowCost(plan, null, { ...fields, per: "1000" }, rate);
    }
  }
  // More likely the provider renamed its types than dropped every service: the catalogue is not emptied.
  if (target.size === 0 && known.some((service) => service.active)) {
    const which = plan.unreadable.length > 0 ? " that can be read" : "";
    throw new CatalogueError(`the provider's list has no service of type Default${which}`);
  }
  const unreadable = new Set(plan.unreadable.map(({ service }) => service));
  for (const service of known) {
    const listed = target.get(service.providerService ?? "");
    // An entry without an id may be that of any service that is not listed otherwise.
    const isUnreadable = unreadable.has(service.providerService) || unreadable.has(null);
    if (listed || !isUnreadable) planLinked(plan, service, listed);
  }
  return plan;
}

/** Too little of such a list can be read to take it for the provider's catalogue. */
function refuseUnreadable(entries: number, unreadable: SyncPlan["unreadable"]): void {
  const [first] = unreadable;
  if (!first || unreadable.length * 2 <= entries) return;
  throw new CatalogueError(
    `${unreadable.length} of ${entries} entries cannot be read; the first is entry ${first.entry}: ${first.reason}`,
  );
}

function planLinked(plan: SyncPlan, known: KnownService, target: TargetService | undefined): void {
  const { id, name, category, priceMicros, min, max } = known;
  if (!target) {
    if (known.active) plan.deactivated.push({ id, name });
    return;
  }
  const before = { name, category, priceMicros, min, max };
  const after = {
    name: known.nameByHand ? name : target.name,
    category: known.categoryByHand ? category : target.category,
    priceMicros: known.priceByHand ? priceMicros : target.priceMicros,
    min: known.minByHand ? min : target.min,
    max: known.maxByHand ? max : target.max,
  };
  // A bound set by hand conflicts with the provider's new one: keep both of ours until the operator decides.
  if (after.min > after.max) Object.assign(after, { min, max });
  const returns = known.delisted;
  if (returns || !sameFields(before, after)) plan.updated.push({ id, before, after, returns });
  else plan.unchanged += 1;
  warnBelowCost(plan, id, { ...after, per: known.per }, target.rate);
}

function targetServices(
  upstream: readonly UpstreamEntry[],
  markupPercent: Decimal,
  plan: SyncPlan,
): Map<string, TargetService> {
  if (upstream.length === 0) throw new CatalogueError("the provider's list is empty");
  const times = new Map<string | null, number>();
  for (const { service } of upstream) times.set(service, (times.get(service) ?? 0) + 1);
  const target = new Map<string, TargetService>();
  for (const [index, entry] of upstream.entries()) {
    const { service } = entry;
    const isUnreadable = "unreadable" in entry;
    if (!isUnreadable && entry.type.trim().toLowerCase() !== SYNCED_TYPE) {
      const { name, type } = entry;
      plan.skipped.push({ service: entry.service, name, reason: `type ${type}` });
      continue;
    }
    const read = isUnreadable ? entry.unreadable : targetService(entry, markupPercent);
    // The list does not say which of them is meant.
    const isRepeated = typeof read !== "string" && times.get(service) !== 1;
    const result = isRepeated ? "its service is listed more than once" : read;
    if (typeof result !== "string") target.set(result.service, result);
    else plan.unreadable.push({ entry: index + 1, service, reason: result });
  }
  return target;
}

/** What is wrong with it where it cannot be sold. */
function targetService(entry: UpstreamService, markupPercent: Decimal): TargetService | string {
  const { service, name, category, rate } = entry;
  const decimal = parseDecimal(rate);
  const priceMicros = decimal && priceWithMarkup(decimal, markupPercent);
  if (priceMicros === null) return `its rate ${rate} is no price`;
  // Panels write 0 for "no minimum" and 2147483647 for "no maximum".
  const min = Math.max(entry.min, 1);
  const max = Math.min(entry.max, QUANTITY_LIMIT);
  if (min > max) return `its min ${entry.min} is above its max ${entry.max}`;
  return { service, name, category, rate, priceMicros, min, max };
}

function warnBelowCost(
  plan: SyncPlan,
  id: string | null,
  service: SyncedFields & { per: PriceUnit },
  rate: string,
): void {
  if (!isBelowCost(service, parseDecimal(rate)!)) return;
  plan.belowCost.push({ id, name: service.name, priceMicros: service.priceMicros, rate });
}

function sameFields(a: SyncedFields, b: SyncedFields): boolean {
  return (
    a.name === b.name &&
    a.category === b.category &&
    a.priceMicros === b.priceMicros &&
    a.min === b.min &&
    a.max === b.max
  );
}

export interface SyncCounts {
  added: number;
  updated: number;
  unchanged: number;
  deactivated: number;
  reactivated: number;
  skipped: number;
  unreadable: number;
  belowCost: number;
}

/** A service that returns is counted in `reactivated`, not in `updated`. */
export function countsOf(plan: SyncPlan): SyncCounts {
  const reactivated = plan.updated.filter(({ returns }) => returns).length;
  return {
    added: plan.added.length,
    updated: plan.updated.length - reactivated,
    unchanged: plan.unchanged,
    deactivated: plan.deactivated.length,
    reactivated,
    skipped: plan.skipped.length,
    unreadable: plan.unreadable.length,
    belowCost: plan.belowCost.length,
  };
}
