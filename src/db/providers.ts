// Providers, and figures of their orders. The provider's key is read only to call the provider, and never shown.

import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import { OLDEST_DUE_POLL } from "./polling.ts";
import type { SyncSettings } from "../domain/providers.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select } from "./query.ts";
import { boolean, nullable, number } from "./table-definition.ts";
import { providers } from "./tables.ts";

export interface Provider extends SyncSettings {
  providerId: number;
  name: string;
  /** One of providers/protocols.ts. */
  protocol: string;
  url: string;
  key: string;
  lastSuccessAt: number | null;
  /** Since when it refuses orders for lack of funds. */
  outOfFundsAt: number | null;
  createdAt: number;
  /** How many US dollars one unit of its currency is: a decimal. */
  rateToUsd: string;
  /** Null: nobody has said it. */
  currency: string | null;
  /** What it charged in although that is not its currency; null once the operator has settled it. */
  foreignCurrency: string | null;
  /** False: it is passed over; services that no other provider delivers are suspended. */
  active: boolean;
  /** The last sync, applied or not. */
  syncedAt: number | null;
  /** Why the last scheduled sync was not applied. */
  syncHeld: string | null;
  /** The operator is alerted when our balance there falls below it; in the provider's currency. */
  lowBalanceMicros: number | null;
  /** Our balance there as it was last asked for, and when; null: never. */
  balanceMicros: number | null;
  balanceCurrency: string | null;
  balanceAt: number | null;
  /** When it was last asked for, whether it answered or not. */
  balanceAskedAt: number | null;
}

/** The figures of a provider's orders in `provider list`. */
export interface ProviderOrders {
  /** PENDING and PROCESSING ones. */
  open: number;
  /** Those whose placement is unknown. */
  unknown: number;
  /** The earliest polledAt among the open placed orders. */
  oldestUncheckedAt: number | null;
}

const ALL = query({
  gives: fields(providers),
  text: `SELECT ${select(providers)} FROM providers ORDER BY providers.name COLLATE "binary"`,
});

// The statuses are literals, so that the partial index of open orders can be used.
const ORDER_FIGURES = query({
  takes: { providerId: number },
  gives: { open: number, unknown: number, oldestUncheckedAt: nullable(number) },
  text: `SELECT count(*) AS "open", count(*) FILTER (WHERE placement = 'unknown') AS "unknown",
      min(checked_at) AS "oldestUncheckedAt"
    FROM orders WHERE provider_id = :providerId AND status IN ('PENDING', 'PROCESSING')`,
});

// No index has the providers of all orders: an order would pay for it, and a provider is rarely deleted.
const USES = query({
  takes: { providerId: number },
  gives: { services: number, orders: boolean },
  text: `SELECT (SELECT count(*) FROM services WHERE provider_id = :providerId
        OR EXISTS (SELECT 1 FROM service_routes WHERE service_id = services.id AND service_routes.provider_id = :providerId)
      ) AS "services",
    CASE WHEN EXISTS (SELECT 1 FROM orders WHERE provider_id = :providerId)
        OR EXISTS (SELECT 1 FROM placement_attempts WHERE provider_id = :providerId) THEN 1 ELSE 0 END AS "orders"`,
});

// Two index searches for each provider, however many orders there are: the conditions repeat those of the partial
// indexes `orders_queued` and `orders_followed`.
const NEXT_DUE = query({
  gives: { dueAt: nullable(number), requestsDueAt: nullable(number) },
  text: `SELECT min(due_at) AS "dueAt",
      (SELECT min(next_at) FROM order_requests WHERE next_at IS NOT NULL) AS "requestsDueAt" FROM (
      SELECT (SELECT min(next_place_at) FROM orders WHERE provider_id = providers.provider_id
        AND placement = 'queued' AND status = 'PENDING') AS due_at FROM providers
      UNION ALL
      SELECT (${OLDEST_DUE_POLL} AND provider_id = providers.provider_id) FROM providers
    ) AS due`,
});

/** Looked up case-insensitively. Never the sandbox, which is no provider to an operator. */
export function findProvider(reader: Reader, name: string): Provider | undefined {
  const provider = reader.row(providers.byName, name);
  return provider?.providerId === SANDBOX_PROVIDER ? undefined : provider;
}

/** The provider with that number, which must exist. */
export function providerOf(reader: Reader, providerId: number): Provider {
  const provider = reader.row(providers.byKey, providerId);
  if (!provider) throw new Error(`there is no provider ${providerId}`);
  return provider;
}

/** By name; without the sandbox. */
export function listProviders(reader: Reader): Provider[] {
  return listAllProviders(reader).filter(({ providerId }) => providerId !== SANDBOX_PROVIDER);
}

/** By number, for rows that hold one; in the order of the names, without the sandbox. */
export function namesOfProviders(reader: Reader): Map<number, string> {
  return new Map(listProviders(reader).map(({ providerId, name }) => [providerId, name]));
}

/** With the sandbox. */
export function listAllProviders(reader: Reader): Provider[] {
  return reader.all(ALL);
}

export function readProviderOrders(reader: Reader, providerId: number): ProviderOrders {
  return reader.one(ORDER_FIGURES, { providerId })!;
}

/** When the next submission or poll of any provider, and the next request, is due: in the past if overdue; null: none is. */
export function nextDueTimes(reader: Reader) {
  return reader.one(NEXT_DUE)!;
}

/** What refers to a provider. Reads every order where none does. */
export function readProviderUses(
  reader: Reader,
  providerId: number,
): { services: number; orders: boolean } {
  return reader.one(USES, { providerId })!;
}

export function insertProvider(
  tx: Tx,
  provider: Pick<Provider, "name" | "protocol" | "url" | "key" | "createdAt"> & Partial<Provider>,
): Provider {
  return tx.insert(providers, provider);
}

/** Nothing of the sandbox: it is not watched, and its row stays as the migration made it. */
export function updateLastSuccess(tx: Tx, providerId: number, at: number): void {
  if (providerId === SANDBOX_PROVIDER) return;
  tx.update(providers, { providerId }, { lastSuccessAt: at });
}

/** Null: it has funds again. */
export function updateOutOfFunds(tx: Tx, providerId: number, at: number | null): void {
  tx.update(providers, { providerId }, { outOfFundsAt: at });
}
