// Providers that get no orders for now, or that are removed; and what came of their scheduled syncs.

import { PROVIDER_KINDS } from "../domain/alerts.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Actor } from "../domain/ledger.ts";
import type { Tx } from "../db/port.ts";
import { readProviderUses } from "../db/providers.ts";
import { listServicesRoutedTo } from "../db/service-routes.ts";
import { providers } from "../db/tables.ts";
import { endProviderAlerts } from "./alerts.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";
import { requireProvider } from "./providers.ts";
import { changeService, listServiceListeners } from "./service-changes.ts";

const OF_ACTIVE: ReadonlySet<string> = new Set(["provider_out_of_funds", "sync_held"]);

export interface SetProviderActive {
  name: string;
  active: boolean;
  actor: Actor;
}

/**
 * A deactivated provider is passed over. Services that no other provider delivers are suspended until it is activated:
 * then those that were active are so again. Orders that were placed go on, and no sync is made meanwhile. Returns how many services changed. Refuses: provider_not_found.
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
    // One that is given no orders will never accept one, and is not synced: nothing would end these.
    const message = `${provider.name} was deactivated`;
    endProviderAlerts(tx, { kinds: OF_ACTIVE, provider: provider.name, message }, context);
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

export interface DeleteProvider {
  name: string;
  actor: Actor;
}

/** Refuses: provider_not_found, provider_in_use. */
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
  /** Why it was not applied, for the operator. */
  held: string;
}

/** A scheduled sync was not applied. Nothing of a provider that was deleted or deactivated, or has no schedule, meanwhile. */
export function holdSync(tx: Tx, { providerId, held }: HoldSync, { now }: Context): null {
  const provider = tx.row(providers.byKey, providerId);
  if (!provider?.active || provider.syncEvery === null) return null;
  tx.update(providers, provider, { syncedAt: now, syncHeld: held });
  return null;
}
