// Providers: creation, and catalogue sync.

import type { Decimal, SyncedFields, SyncPlan, UpstreamEntry } from "../domain/catalogue-sync.ts";
import { parseDecimal, planSync } from "../domain/catalogue-sync.ts";
import { refusal } from "../domain/refusals.ts";
import type { Actor } from "../domain/ledger.ts";
import type { Reader, Tx } from "../db/port.ts";
import { findProvider, insertProvider, type Provider, updateLastSuccess } from "../db/providers.ts";
import { providers } from "../db/tables.ts";
import { findService, listServicesOfProvider } from "../db/services.ts";
import { audit, auditService } from "./audit.ts";
import type { Context } from "./context.ts";
import { addService, changeService, listServiceListeners } from "./service-changes.ts";

export interface CreateProvider {
  name: string;
  protocol: string;
  url: string;
  key: string;
  actor: Actor;
}

/** Refuses: provider_name_taken. */
export function createProvider(tx: Tx, command: CreateProvider, context: Context): Provider {
  if (findProvider(tx, command.name)) throw refusal("provider_name_taken");
  const { actor, ...provider } = command;
  const { name, protocol, url } = provider;
  audit(tx, context, {
    actor,
    action: "provider.create",
    subject: name,
    account: null,
    before: null,
    // Not the key.
    after: { protocol, url },
  });
  return insertProvider(tx, { ...provider, createdAt: context.now });
}

export interface UpdateProvider {
  name: string;
  /** Absent: as it was. */
  changes: { url?: string; key?: string; name?: string; lowBalanceMicros?: number | null };
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
  const { lowBalanceMicros = before.lowBalanceMicros } = command.changes;
  tx.update(providers, before, { url, key, name, lowBalanceMicros });
  audit(tx, context, {
    actor: command.actor,
    action: "provider.update",
    subject: name,
    account: null,
    before: { name: before.name, url: before.url, lowBalanceMicros: before.lowBalanceMicros },
    // Never the key itself.
    after: { name, url, lowBalanceMicros, ...(key === before.key ? {} : { key: "replaced" }) },
  });
  return { providerId: before.providerId };
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
  const listeners = listServiceListeners(tx, context);
  tx.each(plan.added, ({ providerService, ...fields }) => {
    const service = addedService(provider, providerService, fields, context);
    const added = addService(tx, listeners, service, context);
    auditService(tx, context, command.actor, "service.create", null, added);
  });
  tx.each(plan.updated, ({ id, after, returns }) => {
    const service = findService(tx, id)!;
    const reactivation = returns ? { active: true, delisted: false } : {};
    const updated = { ...service, ...after, ...reactivation };
    changeService(tx, listeners, service, updated, context);
    auditService(tx, context, command.actor, "service.update", service, updated);
  });
  tx.each(plan.deactivated, ({ id }) => {
    const service = findService(tx, id)!;
    const deactivated = { ...service, active: false, delisted: true };
    changeService(tx, listeners, service, deactivated, context);
    auditService(tx, context, command.actor, "service.deactivate", service, deactivated);
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
  return planSync(upstream, listServicesOfProvider(reader, provider.providerId), markupPercent);
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
    per: "1000" as const,
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
    delisted: false,
  };
}
