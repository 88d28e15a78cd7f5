// Providers: creation, and catalogue sync.

import type { AuditFacts } from "../domain/audit.ts";
import { type Decimal, parseDecimal } from "../domain/decimals.ts";
import { planSync, type SyncedFields, type SyncPlan } from "../domain/catalogue-sync.ts";
import type { UpstreamEntry } from "../domain/upstream-services.ts";
import type { NewServices, SyncSettings } from "../domain/providers.ts";
import { isAsScheduled, NO_PROVIDER } from "../domain/providers.ts";
import { refusal } from "../domain/refusals.ts";
import { freeId } from "../domain/service-ids.ts";
import { inDollars, ratesIn } from "../domain/upstream-rates.ts";
import type { Actor } from "../domain/ledger.ts";
import { REFILL_DAYS_DEFAULT } from "../domain/order-requests.ts";
import type { Reader, Tx } from "../db/port.ts";
import { recordRates } from "../db/costs.ts";
import { findProvider, insertProvider, type Provider, updateLastSuccess } from "../db/providers.ts";
import { listRoutedServices } from "../db/route-listing.ts";
import { readFurtherRoutesTo } from "../db/service-routes.ts";
import { providers } from "../db/tables.ts";
import { findService, listServiceIds, listServicesOfProvider } from "../db/services.ts";
import { renameAlerts } from "./alerts.ts";
import { audit, auditService } from "./audit.ts";
import type { Context } from "./context.ts";
import { decideForeignCosts, writeCost } from "./costs.ts";
import { decideListings, writeListings } from "./route-listing.ts";
import { addService, changeService, listServiceListeners } from "./service-changes.ts";

export interface CreateProvider extends Partial<SyncSettings> {
  name: string;
  protocol: string;
  url: string;
  key: string;
  /** A decimal; absent: 1. */
  rateToUsd?: string;
  /** Absent: US dollars, or with a rate whatever it charges in first. */
  currency?: string;
  actor: Actor;
}

/** Refuses: provider_name_reserved, provider_name_taken, markup_missing. */
export function createProvider(tx: Tx, command: CreateProvider, context: Context): Provider {
  refuseReserved(command.name);
  if (findProvider(tx, command.name)) throw refusal("provider_name_taken");
  const { actor, rateToUsd = "1", currency = null, ...provider } = command;
  const { name, protocol, url, key: _, ...settings } = provider;
  refuseUnpriced(settings);
  audit(tx, context, {
    actor,
    action: "provider.create",
    subject: name,
    account: null,
    before: null,
    // Not the key.
    after: { protocol, url, rateToUsd, currency, ...settings },
  });
  return insertProvider(tx, { ...provider, rateToUsd, currency, createdAt: context.now });
}

export interface UpdateProvider {
  name: string;
  /** Absent: as it was. */
  changes: {
    url?: string;
    key?: string;
    name?: string;
    rateToUsd?: string;
    currency?: string;
    lowBalanceMicros?: number | null;
  } & Partial<SyncSettings>;
  actor: Actor;
}

/**
 * The next call to the provider goes to the new address with the new key.
 * Refuses: provider_not_found, provider_name_reserved, provider_name_taken, markup_missing.
 */
export function updateProvider(
  tx: Tx,
  command: UpdateProvider,
  context: Context,
): { providerId: number } {
  const before = requireProvider(tx, command.name);
  const { key = before.key, name = before.name } = command.changes;
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
  const after = tx.update(providers, before, { ...command.changes, ...priced, ...held });
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

/** The provider itself where its currency stays as it was. A rate is that of the currency which it charged in. */
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

/** On the command line that name stands for no provider. */
function refuseReserved(name: string): void {
  if (name.toLowerCase() === NO_PROVIDER) throw refusal("provider_name_reserved");
}

/** A scheduled sync has nobody to ask. */
function refuseUnpriced({ markup, syncEvery }: Partial<SyncSettings>): void {
  if ((syncEvery ?? null) !== null && (markup ?? null) === null) throw refusal("markup_missing");
}

/** The fields of a provider that the audit log records: not its key. */
function providerFacts(provider: Provider): AuditFacts {
  const { name, url, markup, syncEvery, syncPriceLimit, syncDeactivationLimit } = provider;
  const { syncNew, readableIds, rateToUsd, currency, lowBalanceMicros } = provider;
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
  };
}

export interface NoteSuccess {
  providerId: number;
}

/** A call to the provider succeeded. */
export function noteProviderSuccess(tx: Tx, command: NoteSuccess, context: Context): null {
  updateLastSuccess(tx, command.providerId, context.now);
  return null;
}

/** How a sync makes its plan. */
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
  /** The plan that the operator was shown; if the sync would now do anything else, it is refused. */
  plan: SyncPlan;
  /** Refused where it is not as the provider's schedule says by now. */
  isScheduled?: boolean;
  actor: Actor;
}

/**
 * Applies what can be read of the provider's list to the catalogue, in one transaction, and keeps the markup of a sync of all
 * services for the next one. docs/specification.md#sync. Throws CatalogueError for a list that cannot be imported.
 * Refuses: provider_not_found, provider_inactive, catalogue_changed.
 */
export function syncCatalogue(tx: Tx, command: SyncCatalogue, context: Context): SyncPlan {
  const provider = requireProvider(tx, command.name);
  if (!provider.active) throw refusal("provider_inactive");
  const plan = planCatalogue(tx, provider, command.upstream, command);
  const isOutdated = command.isScheduled === true && !isAsScheduled(provider, command);
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
 * What was held back is so no longer. A sync of some services says nothing of the others: neither that, nor the markup at
 * which the next sync prices them.
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

/** What a sync would do now; changes nothing. Throws CatalogueError. */
export function planCatalogue(
  reader: Reader,
  provider: Provider,
  upstream: readonly UpstreamEntry[],
  { markup, only, newServices, readableIds }: SyncOptions,
): SyncPlan {
  const markupPercent: Decimal | null = parseDecimal(markup);
  if (!markupPercent) throw new Error("the markup must be a decimal number");
  const { providerId } = provider;
  const known = listServicesOfProvider(reader, providerId);
  const routed = readFurtherRoutesTo(reader, providerId);
  const services = listRoutedServices(reader, providerId);
  const scope = { only, ignoresNew: newServices === "ignore", routed, services };
  const plan = planSync(inDollars(upstream, provider.rateToUsd), known, markupPercent, scope);
  if (readableIds !== true || plan.added.length === 0) return plan;
  const taken = listServiceIds(reader);
  const added = plan.added.map((service) => {
    const id = freeId(service.name, (each) => taken.has(each));
    taken.add(id);
    return { ...service, id };
  });
  return { ...plan, added };
}

/** Refuses: provider_not_found. */
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
