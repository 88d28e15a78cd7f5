// Activates, pauses and deletes providers, and records scheduled syncs that were held back.

import { PROVIDER_KINDS } from "../../domain/alerts/alerts.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { Tx } from "../../db/port/port.ts";
import { heldUntilNow } from "../../domain/providers/fund-holds.ts";
import { isPauseOver, NO_PAUSE } from "../../domain/providers/provider-pauses.ts";
import {
  hastenSubmissions,
  listProviders,
  readProviderUses,
} from "../../db/providers/providers.ts";
import { listServicesRoutedTo } from "../../db/catalogue/service-routes.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { providers } from "../../db/tables/providers.ts";
import { endProviderAlerts } from "../webhooks/alerts.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireProvider } from "./providers.ts";
import { changeService, listServiceListeners } from "../catalogue/service-changes.ts";

const KINDS_ENDED_BY_DEACTIVATION: ReadonlySet<string> = new Set([
  "provider_out_of_funds",
  "provider_paused",
  "sync_held",
]);

export interface SetProviderActive {
  name: string;
  active: boolean;
  actor: Actor;
}

/**
 * Activates or deactivates a provider. A deactivated one gets no orders and no syncs. Orders that it has accepted
 * continue. Active services that no other provider delivers are suspended, and become active again when the provider
 * does. Returns how many services changed. Refuses: provider_not_found.
 */
export function setProviderActive(
  tx: Tx,
  command: SetProviderActive,
  context: Context,
): { services: number } {
  const { active, actor } = command;
  const provider = requireProvider(tx, command.name);
  const changed = listServicesRoutedTo(tx, provider.providerId)
    .filter(({ service, isDeliveredElsewhere, isListedThere }) => {
      if (!active) return service.active && !isDeliveredElsewhere;
      return (service.suspended || service.delisted) && (isListedThere || isDeliveredElsewhere);
    })
    .map(({ service }) => service);
  const listeners = listServiceListeners(tx, context);
  if (!active) {
    // A deactivated provider accepts no order and is not synced, so nothing else would end these alerts.
    const message = `${provider.name} was deactivated`;
    endProviderAlerts(
      tx,
      { kinds: KINDS_ENDED_BY_DEACTIVATION, provider: provider.name, message },
      context,
    );
  }
  tx.update(providers, provider, { active });
  tx.each(changed, (before) => {
    const service = { ...before, active, suspended: !active, delisted: false };
    changeService(tx, listeners, before, service, context);
  });
  audit(tx, context, {
    actor,
    action: active ? "provider.activate" : "provider.deactivate",
    subject: provider.name,
    account: null,
    before: { active: provider.active },
    after: { active, ...(provider.active === active ? {} : { services: changed.length }) },
  });
  return { services: changed.length };
}

export interface SetProviderPaused {
  name: string;
  paused: boolean;
  /** Milliseconds after which the pause ends by itself; absent or null: when the operator resumes the provider. */
  forMs?: number | null;
  actor: Actor;
}

/**
 * Pauses or resumes a provider. Queued orders of a paused one take the next route, or wait; submissions in flight run
 * to their end. A pause by the operator ends only when its time is over or the operator resumes the provider. Refuses:
 * provider_not_found.
 */
export function setProviderPaused(tx: Tx, command: SetProviderPaused, context: Context): null {
  const { paused, forMs = null, actor } = command;
  tx.lock(CATALOGUE_LOCK);
  const provider = requireProvider(tx, command.name);
  if (!paused) hastenSubmissions(tx, provider.providerId, context.now);
  const pausedAt = provider.pausedAt ?? context.now;
  const pausedUntil = forMs === null ? null : context.now + forMs;
  const changes = paused ? { pausedAt, pausedBy: "operator" as const, pausedUntil } : NO_PAUSE;
  tx.update(providers, provider, { ...changes, ...heldUntilNow(provider, context.now) });
  audit(tx, context, {
    actor,
    action: paused ? "provider.pause" : "provider.resume",
    subject: provider.name,
    account: null,
    before: { paused: provider.pausedBy, pausedUntilAt: provider.pausedUntil },
    after: { paused: changes.pausedBy, pausedUntilAt: changes.pausedUntil },
  });
  return null;
}

/** Ends the pauses whose time is over. Returns the names of the providers; their queued orders become due at once. */
export function endTimedPauses(tx: Tx, _command: null, { now }: Context): string[] {
  tx.lock(CATALOGUE_LOCK);
  const over = listProviders(tx).filter((provider) => isPauseOver(provider, now));
  for (const { providerId } of over) hastenSubmissions(tx, providerId, now);
  for (const provider of over) tx.update(providers, provider, NO_PAUSE);
  return over.map(({ name }) => name);
}

export interface DeleteProvider {
  name: string;
  actor: Actor;
}

/** Deletes a provider that nothing uses. Refuses: provider_not_found, provider_in_use. */
export function deleteProvider(tx: Tx, command: DeleteProvider, context: Context): null {
  const provider = requireProvider(tx, command.name);
  const uses = readProviderUses(tx, provider.providerId);
  if (uses.services > 0 || uses.orders) throw new Refusal("provider_in_use", uses);
  const { name, protocol, url } = provider;
  const message = `${name} was deleted`;
  endProviderAlerts(tx, { kinds: PROVIDER_KINDS, provider: name, message }, context);
  tx.delete(providers, provider);
  audit(tx, context, {
    actor: command.actor,
    action: "provider.delete",
    subject: name,
    account: null,
    before: { protocol, url },
    after: null,
  });
  return null;
}

export interface HoldSync {
  providerId: number;
  /** Why the sync was held back, for the operator. */
  held: string;
}

/**
 * Records that a scheduled sync was held back. Does nothing if the provider no longer exists, is inactive or has no
 * schedule.
 */
export function holdSync(tx: Tx, { providerId, held }: HoldSync, { now }: Context): null {
  const provider = tx.row(providers.byKey, providerId);
  if (!provider?.active || provider.syncEvery === null) return null;
  tx.update(providers, provider, { syncedAt: now, syncHeld: held });
  return null;
}
