// Providers: creation, and catalogue sync.

import type { Decimal, SyncedFields, SyncPlan, UpstreamEntry } from "../domain/catalogue-sync.ts";
import { parseDecimal, planSync } from "../domain/catalogue-sync.ts";
import { decimalText, multiplyDecimals } from "../domain/costs.ts";
import { refusal } from "../domain/refusals.ts";
import type { Actor } from "../domain/ledger.ts";
import { REFILL_DAYS_DEFAULT } from "../domain/order-requests.ts";
import type { Reader, Tx } from "../db/port.ts";
import { type Rate, recordRates } from "../db/costs.ts";
import { findProvider, insertProvider, type Provider, updateLastSuccess } from "../db/providers.ts";
import { providers } from "../db/tables.ts";
import {
  findService,
  insertService,
  listServicesOfProvider,
  updateService as writeService,
} from "../db/services.ts";
import { audit, auditService } from "./audit.ts";
import type { Context } from "./context.ts";
import { decideForeignCosts, writeCost } from "./costs.ts";
import { listServiceListeners, recordServiceEvents } from "./webhook-events.ts";

export interface CreateProvider {
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

/** Refuses: provider_name_taken. */
export function createProvider(tx: Tx, command: CreateProvider, context: Context): Provider {
  if (findProvider(tx, command.name)) throw refusal("provider_name_taken");
  const { actor, rateToUsd = "1", currency = null, ...provider } = command;
  const { name, protocol, url } = provider;
  audit(tx, context, {
    actor,
    action: "provider.create",
    subject: name,
    account: null,
    before: null,
    // Not the key.
    after: { protocol, url, rateToUsd, currency },
  });
  return insertProvider(tx, { ...provider, rateToUsd, currency, createdAt: context.now });
}

export interface UpdateProvider {
  name: string;
  /** Absent: as it was. */
  changes: { url?: string; key?: string; name?: string; rateToUsd?: string; currency?: string };
  actor: Actor;
}

/** The next call to the provider goes to the new address with the new key. Refuses: provider_not_found, provider_name_taken. */
export function updateProvider(
  tx: Tx,
  command: UpdateProvider,
  context: Context,
): { providerId: number } {
  const before = requireProvider(tx, command.name);
  const { url = before.url, key = before.key, name = before.name } = command.changes;
  const holder = findProvider(tx, name);
  if (holder && holder.providerId !== before.providerId) throw refusal("provider_name_taken");
  const terms = currencyAfter(before, command.changes);
  const settled = terms === before ? [] : decideForeignCosts(tx, before.providerId, terms);
  const { rateToUsd, currency, foreignCurrency } = terms;
  tx.update(providers, before, { url, key, name, rateToUsd, currency, foreignCurrency });
  for (const { orderId, change } of settled) writeCost(tx, orderId, change, context);
  audit(tx, context, {
    actor: command.actor,
    action: "provider.update",
    subject: name,
    account: null,
    before: {
      name: before.name,
      url: before.url,
      rateToUsd: before.rateToUsd,
      currency: before.currency,
    },
    // Never the key itself.
    after: { name, url, rateToUsd, currency, ...(key === before.key ? {} : { key: "replaced" }) },
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
  const told = rateToUsd === "1" ? null : before.foreignCurrency;
  const currency = changes.currency ?? before.currency ?? told;
  return { rateToUsd, currency, foreignCurrency: null };
}

export interface NoteSuccess {
  providerId: number;
}

/** A call to the provider succeeded. */
export function noteProviderSuccess(tx: Tx, command: NoteSuccess, context: Context): null {
  updateLastSuccess(tx, command.providerId, context.now);
  return null;
}

export interface SyncCatalogue {
  name: string;
  upstream: UpstreamEntry[];
  /** Percent, as a decimal number in text. */
  markup: string;
  /** The plan that the operator was shown; if the sync would now do anything else, it is refused. */
  plan: SyncPlan;
  actor: Actor;
}

/**
 * Applies what can be read of the provider's list to the catalogue, in one transaction. docs/specification.md#sync.
 * Throws CatalogueError for a list that cannot be imported. Refuses: provider_not_found, catalogue_changed.
 */
export function syncCatalogue(tx: Tx, command: SyncCatalogue, context: Context): SyncPlan {
  const provider = requireProvider(tx, command.name);
  const plan = planCatalogue(tx, provider, command.upstream, command.markup);
  if (!Bun.deepEquals(plan, command.plan, true)) throw refusal("catalogue_changed");
  // Nothing is refused from here on.
  recordRates(tx, provider.providerId, ratesIn(command.upstream, plan), context.now);
  const listeners = listServiceListeners(tx, context);
  tx.each(plan.added, ({ providerService, ...fields }) => {
    const added = insertService(tx, addedService(provider, providerService, fields, context));
    auditService(tx, context, command.actor, "service.create", null, added);
    recordServiceEvents(tx, listeners, null, added, context);
  });
  tx.each(plan.updated, ({ id, after, returns }) => {
    const service = findService(tx, id)!;
    const reactivation = returns ? { active: true, delisted: false } : {};
    const updated = { ...service, ...after, ...reactivation };
    writeService(tx, updated);
    auditService(tx, context, command.actor, "service.update", service, updated);
    recordServiceEvents(tx, listeners, service, updated, context);
  });
  tx.each(plan.deactivated, ({ id }) => {
    const service = findService(tx, id)!;
    const deactivated = { ...service, active: false, delisted: true };
    writeService(tx, deactivated);
    auditService(tx, context, command.actor, "service.deactivate", service, deactivated);
    recordServiceEvents(tx, listeners, service, deactivated, context);
  });
  updateLastSuccess(tx, provider.providerId, context.now);
  return plan;
}

/** What a sync would do now; changes nothing. Throws CatalogueError. */
export function planCatalogue(
  reader: Reader,
  provider: Provider,
  upstream: readonly UpstreamEntry[],
  markup: string,
): SyncPlan {
  const markupPercent: Decimal | null = parseDecimal(markup);
  if (!markupPercent) throw new Error("the markup must be a decimal number");
  const known = listServicesOfProvider(reader, provider.providerId);
  return planSync(inDollars(upstream, provider), known, markupPercent);
}

/** With rates in US dollars. */
function inDollars(
  upstream: readonly UpstreamEntry[],
  { rateToUsd }: Provider,
): readonly UpstreamEntry[] {
  if (rateToUsd === "1") return upstream;
  const factor = parseDecimal(rateToUsd)!;
  return upstream.map((entry) => {
    const rate = "rate" in entry ? parseDecimal(entry.rate) : null;
    return rate ? { ...entry, rate: decimalText(multiplyDecimals(rate, factor)) } : entry;
  });
}

/** The provider's own rates of what can be ordered there, by service. */
function ratesIn(upstream: readonly UpstreamEntry[], plan: SyncPlan): Map<string, Rate> {
  const leftOut = new Set([...plan.skipped, ...plan.unreadable].map(({ service }) => service));
  const rates = new Map<string, Rate>();
  for (const entry of upstream) {
    if ("unreadable" in entry || leftOut.has(entry.service)) continue;
    const rate = parseDecimal(entry.rate);
    const unit = /package/i.test(entry.type) ? "order" : "1000";
    if (rate) rates.set(entry.service, { rate: decimalText(rate), unit });
  }
  return rates;
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
