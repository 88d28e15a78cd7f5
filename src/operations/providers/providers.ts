// Providers: creation, changes and catalogue sync.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import {
  type CategoryMarkupChanges,
  changedMarkups,
  type PriceRounding,
  pricingOf,
  readCategoryMarkups,
} from "../../domain/providers/pricing.ts";
import { planSync } from "../../domain/providers/catalogue-sync.ts";
import type { SyncedFields, SyncPlan } from "../../domain/providers/sync-plan.ts";
import type { UpstreamEntry } from "../../domain/providers/upstream-services.ts";
import { heldUntilNow, type HoldSettings } from "../../domain/providers/fund-holds.ts";
import { NO_PAUSE } from "../../domain/providers/provider-pauses.ts";
import type { NewServices, SyncSettings } from "../../domain/providers/providers.ts";
import { matchesSchedule, NO_PROVIDER } from "../../domain/providers/providers.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { freeId } from "../../domain/catalogue/service-ids.ts";
import { inDollars, ratesIn } from "../../domain/providers/upstream-rates.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { REFILL_DAYS_DEFAULT } from "../../domain/orders/order-requests.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { recordRates } from "../../db/delivery/costs.ts";
import {
  findProvider,
  hastenSubmissions,
  insertProvider,
  type Provider,
  updateLastSuccess,
} from "../../db/providers/providers.ts";
import { listRoutedServices } from "../../db/catalogue/route-listing.ts";
import { readFurtherRoutesTo } from "../../db/catalogue/service-routes.ts";
import { providers } from "../../db/tables/providers.ts";
import {
  findService,
  listServiceIds,
  listServicesOfProvider,
} from "../../db/catalogue/services.ts";
import { renameAlerts } from "../webhooks/alerts.ts";
import { audit, auditService } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { decideForeignCosts, writeCost } from "../delivery/costs.ts";
import { decideListings, writeListings } from "../catalogue/route-listing.ts";
import { addService, changeService, listServiceListeners } from "../catalogue/service-changes.ts";

/** Price rules that a command sets. Absent: unchanged, or the default for a new provider. */
interface PriceRuleChanges {
  roundPrices?: PriceRounding;
  categoryMarkups?: CategoryMarkupChanges;
}

export interface CreateProvider
  extends Partial<SyncSettings>, Partial<HoldSettings>, PriceRuleChanges {
  name: string;
  protocol: string;
  url: string;
  key: string;
  /** A decimal; absent: 1. */
  rateToUsd?: string;
  /** Absent: US dollars, or with a rate the currency of the first charge that the provider reports. */
  currency?: string;
  actor: Actor;
}

/** Creates a provider. Refuses: provider_name_reserved, provider_name_taken, markup_missing. */
export function createProvider(tx: Tx, command: CreateProvider, context: Context): Provider {
  refuseReserved(command.name);
  if (findProvider(tx, command.name)) throw refusal("provider_name_taken");
  const { actor, rateToUsd = "1", currency = null, categoryMarkups = {}, ...provider } = command;
  const { name, protocol, url, key: _, ...settings } = provider;
  refuseUnpriced(settings);
  const markups = changedMarkups("{}", categoryMarkups);
  audit(tx, context, {
    actor,
    action: "provider.create",
    subject: name,
    account: null,
    before: null,
    // Everything but the key.
    after: {
      protocol,
      url,
      rateToUsd,
      currency,
      ...settings,
      categoryMarkups: markupsText(markups),
    },
  });
  const created = { ...provider, rateToUsd, currency, categoryMarkups: markups };
  return insertProvider(tx, { ...created, createdAt: context.now });
}

export interface UpdateProvider {
  name: string;
  /** Absent: unchanged. */
  changes: {
    url?: string;
    key?: string;
    name?: string;
    rateToUsd?: string;
    currency?: string;
    lowBalanceMicros?: number | null;
  } & Partial<SyncSettings> &
    Partial<HoldSettings> &
    PriceRuleChanges;
  actor: Actor;
}

/**
 * Changes a provider. The next call goes to the new address with the new key. A new address needs a new key: otherwise
 * anyone who may change the address could read the stored key there.
 * Refuses: provider_not_found, provider_key_needed, provider_name_reserved, provider_name_taken, markup_missing.
 */
export function updateProvider(
  tx: Tx,
  command: UpdateProvider,
  context: Context,
): { providerId: number } {
  const before = requireProvider(tx, command.name);
  const { url = before.url, key = before.key, name = before.name } = command.changes;
  if (url !== before.url && command.changes.key === undefined) throw refusal("provider_key_needed");
  if (name !== before.name) refuseReserved(name);
  const holder = findProvider(tx, name);
  if (holder && holder.providerId !== before.providerId) throw refusal("provider_name_taken");
  refuseUnpriced({ ...before, ...command.changes });
  const terms = currencyAfter(before, command.changes);
  const settled = terms === before ? [] : decideForeignCosts(tx, before.providerId, terms);
  const { rateToUsd, currency, foreignCurrency } = terms;
  const priced = { rateToUsd, currency, foreignCurrency };
  // Without a schedule nothing is held back.
  const held = command.changes.syncEvery === null ? { syncHeld: null } : {};
  const released = releasedBy(before, command.changes, context.now);
  if (released) hastenSubmissions(tx, before.providerId, context.now);
  const { categoryMarkups = {}, ...changes } = command.changes;
  const after = tx.update(providers, before, {
    ...changes,
    categoryMarkups: changedMarkups(before.categoryMarkups, categoryMarkups),
    ...priced,
    ...held,
    ...released,
  });
  for (const { orderId, change } of settled) writeCost(tx, orderId, change, context);
  if (name !== before.name) renameAlerts(tx, before.name, name, context);
  audit(tx, context, {
    actor: command.actor,
    action: "provider.update",
    subject: name,
    account: null,
    before: providerFacts(before),
    // Never the key itself.
    after: { ...providerFacts(after), ...(key === before.key ? {} : { key: "replaced" }) },
  });
  return { providerId: before.providerId };
}

/** Orders that wait for funds are tried again once the operator no longer lets them wait. */
function releasedBy(before: Provider, { onNoFunds }: Partial<HoldSettings>, now: number) {
  const isReleased = onNoFunds === "refund" && before.pausedBy === "funds";
  return isReleased ? { ...NO_PAUSE, ...heldUntilNow(before, now) } : null;
}

/**
 * Returns the terms after a change, or `before` itself if they stay. A new rate without a currency applies to the
 * foreign currency in which the provider has charged.
 */
function currencyAfter(
  before: Provider,
  changes: UpdateProvider["changes"],
): Pick<Provider, "rateToUsd" | "currency" | "foreignCurrency"> {
  const { rateToUsd = before.rateToUsd } = changes;
  if (changes.rateToUsd === undefined && changes.currency === undefined) return before;
  const charged = rateToUsd === "1" ? null : before.foreignCurrency;
  const currency = changes.currency ?? before.currency ?? charged;
  return { rateToUsd, currency, foreignCurrency: null };
}

/** Refuses the name that means "no provider" on the command line. */
function refuseReserved(name: string): void {
  if (name.toLowerCase() === NO_PROVIDER) throw refusal("provider_name_reserved");
}

/** Refuses a schedule without a markup: scheduled syncs run unattended. */
function refuseUnpriced({ markup, syncEvery }: Partial<SyncSettings>): void {
  if ((syncEvery ?? null) !== null && (markup ?? null) === null) throw refusal("markup_missing");
}

/** Returns the fields of a provider that the audit log records: not its key. */
function providerFacts(provider: Provider): AuditFacts {
  const { name, url, markup, syncEvery, syncPriceLimit, syncDeactivationLimit } = provider;
  const { syncNew, readableIds, rateToUsd, currency, lowBalanceMicros } = provider;
  const { onNoFunds, holdMs, holdLimitMicros, roundPrices } = provider;
  const limits = { syncPriceLimit, syncDeactivationLimit };
  return {
    name,
    url,
    markup,
    syncEvery,
    ...limits,
    syncNew,
    readableIds,
    rateToUsd,
    currency,
    lowBalanceMicros,
    onNoFunds,
    holdMs,
    holdLimitMicros,
    roundPrices,
    categoryMarkups: markupsText(provider.categoryMarkups),
  };
}

/** Describes markups of categories in the audit log: `Likes 40 %, Views 10 %`; null: none. */
function markupsText(stored: string): string | null {
  const markups = Object.entries(readCategoryMarkups(stored));
  return markups.map(([category, percent]) => `${category} ${percent} %`).join(", ") || null;
}

export interface NoteSuccess {
  providerId: number;
}

/** Records that a call to the provider succeeded. */
export function noteProviderSuccess(tx: Tx, command: NoteSuccess, context: Context): null {
  updateLastSuccess(tx, command.providerId, context.now);
  return null;
}

export interface SyncOptions {
  /** Percent, as a decimal number in text. */
  markup: string;
  /** Ids of services at the provider: nothing else is added, changed or deactivated. Absent: all. */
  only?: readonly string[] | undefined;
  /** Absent: `public`. */
  newServices?: NewServices;
  readableIds?: boolean;
}

export interface SyncCatalogue extends SyncOptions {
  name: string;
  upstream: UpstreamEntry[];
  /** The plan that the operator was shown. The sync is refused if its plan would now differ. */
  plan: SyncPlan;
  /** Whether this is a scheduled sync, which is refused if the schedule has changed since. */
  isScheduled?: boolean;
  actor: Actor;
}

/**
 * Applies the readable entries of the provider's list to the catalogue, in one transaction. A sync of all services also
 * sets the markup of the next one. docs/specification/providers.md#sync. Throws CatalogueError for a list that cannot
 * be imported. Refuses: provider_not_found, provider_inactive, catalogue_changed.
 */
export function syncCatalogue(tx: Tx, command: SyncCatalogue, context: Context): SyncPlan {
  const provider = requireProvider(tx, command.name);
  if (!provider.active) throw refusal("provider_inactive");
  const plan = planCatalogue(tx, provider, command.upstream, command);
  const isOutdated = command.isScheduled === true && !matchesSchedule(provider, command);
  if (isOutdated || !Bun.deepEquals(plan, command.plan, true)) throw refusal("catalogue_changed");
  // Nothing is refused from here on.
  const listings = decideListings(tx, provider, plan);
  recordRates(tx, provider.providerId, ratesIn(command.upstream), context.now);
  const listeners = listServiceListeners(tx, context);
  const isPrivate = command.newServices === "private";
  tx.each(plan.added, ({ providerService, id, ...fields }) => {
    const service = addedService(provider, providerService, fields, context);
    const wanted = { ...service, id: id ?? service.id, private: isPrivate };
    const added = addService(tx, listeners, wanted, context);
    auditService(tx, context, command.actor, "service.create", null, added);
  });
  tx.each(plan.updated, ({ id, after }) => {
    const service = findService(tx, id)!;
    const updated = { ...service, ...after, ...listings.get(id) };
    changeService(tx, listeners, service, updated, context);
    auditService(tx, context, command.actor, "service.update", service, updated);
  });
  const updated = new Set(plan.updated.map(({ id }) => id));
  const others = [...listings].filter(([id]) => !updated.has(id));
  tx.each(others, ([id, changes]) => {
    const service = findService(tx, id)!;
    const listed = { ...service, ...changes };
    changeService(tx, listeners, service, listed, context);
    const action = service.active && !listed.active ? "service.deactivate" : "service.update";
    auditService(tx, context, command.actor, action, service, listed);
  });
  writeListings(tx, provider, plan.routes, command.actor, context);
  noteSynced(tx, provider, command, context);
  return plan;
}

/**
 * Records a sync. A sync of all services clears a held-back sync and sets the markup of the next one. A sync of some
 * services does neither, because it does not look at the other services.
 */
function noteSynced(tx: Tx, provider: Provider, command: SyncCatalogue, context: Context): void {
  const { only, actor } = command;
  const isWhole = only === undefined;
  const markup = isWhole ? command.markup : provider.markup;
  const done = isWhole ? { syncedAt: context.now, syncHeld: null } : {};
  tx.update(providers, provider, { markup, lastSuccessAt: context.now, ...done });
  audit(tx, context, {
    actor,
    action: "provider.update",
    subject: provider.name,
    account: null,
    before: { markup: provider.markup },
    after: { markup },
  });
}

/** Returns what a sync would do now, without changing anything. Throws CatalogueError. */
export function planCatalogue(
  reader: Reader,
  provider: Provider,
  upstream: readonly UpstreamEntry[],
  { markup, only, newServices, readableIds }: SyncOptions,
): SyncPlan {
  const { providerId } = provider;
  const known = listServicesOfProvider(reader, providerId);
  const routed = readFurtherRoutesTo(reader, providerId);
  const services = listRoutedServices(reader, providerId);
  const pricing = pricingOf(markup, provider);
  const scope = { only, ignoresNew: newServices === "ignore", routed, services };
  const plan = planSync(inDollars(upstream, provider.rateToUsd), known, pricing, scope);
  if (readableIds !== true || plan.added.length === 0) return plan;
  const taken = listServiceIds(reader);
  const added = plan.added.map((service) => {
    const id = freeId(service.name, (each) => taken.has(each));
    taken.add(id);
    return { ...service, id };
  });
  return { ...plan, added };
}

/** Returns the provider. Refuses: provider_not_found. */
export function requireProvider(reader: Reader, name: string): Provider {
  const provider = findProvider(reader, name);
  if (!provider) throw refusal("provider_not_found");
  return provider;
}

function addedService(
  provider: Provider,
  providerService: string,
  fields: SyncedFields,
  context: Context,
) {
  return {
    ...fields,
    id: context.createId(),
    active: true,
    private: false,
    createdAt: context.now,
    providerId: provider.providerId,
    providerService,
    nameByHand: false,
    categoryByHand: false,
    priceByHand: false,
    minByHand: false,
    maxByHand: false,
    typeByHand: false,
    dripfeedByHand: false,
    delisted: false,
    refillDays: REFILL_DAYS_DEFAULT,
    cancelByHand: false,
    refillByHand: false,
  };
}
