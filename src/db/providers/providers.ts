// Providers, and figures of their orders. A provider's key is read only to call the provider and is never shown.

import { OPEN_ORDER_CONDITION } from "../orders/order-statuses.ts";
import { isPaused } from "../../domain/alerts/provider-conditions.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { OLDEST_DUE_POLL } from "../delivery/polling.ts";
import type { FundHold } from "../../domain/providers/fund-holds.ts";
import type { PriceRules } from "../../domain/providers/pricing.ts";
import {
  ANSWERED,
  type PausedBy,
  type ProviderPause,
} from "../../domain/providers/provider-pauses.ts";
import type { SyncSettings } from "../../domain/providers/providers.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { boolean, nullable, number } from "../port/table-definition.ts";
import { orders } from "../tables/orders.ts";
import { providers } from "../tables/providers.ts";

export interface Provider extends SyncSettings, PriceRules, ProviderPause, FundHold {
  pausedBy: PausedBy | null;
  providerId: number;
  name: string;
  /** A protocol of providers/protocols.ts. */
  protocol: string;
  url: string;
  key: string;
  lastSuccessAt: number | null;
  /** Time since which it refuses orders because our balance there is too low; null: it does not. */
  outOfFundsAt: number | null;
  createdAt: number;
  /** US dollars in one unit of its currency, as a decimal. */
  rateToUsd: string;
  /** Its currency; null: not known. */
  currency: string | null;
  /** The other currency in which it charged; null once the operator has settled this. */
  foreignCurrency: string | null;
  /** False: it gets no new orders, and services without another active provider are suspended. */
  active: boolean;
  /** Time of the last sync, applied or not. */
  syncedAt: number | null;
  /** Why the last scheduled sync was not applied; null if it was. */
  syncHeld: string | null;
  /** Our balance there below which the operator is alerted, in the provider's currency. */
  lowBalanceMicros: number | null;
  /** Our last known balance there, its currency and its time; null: never known. */
  balanceMicros: number | null;
  balanceCurrency: string | null;
  balanceAt: number | null;
  /** When the provider was last asked for the balance, whether it answered or not. */
  balanceAskedAt: number | null;
}

/** The figures of a provider's orders in `provider list`. */
export interface ProviderOrders {
  /** PENDING and PROCESSING orders. */
  open: number;
  /** Open orders whose submission is unknown. */
  unknown: number;
  /** The earliest polledAt among the open placed orders. */
  oldestUncheckedAt: number | null;
}

const ALL = query({
  columns: fields(providers),
  text: `SELECT ${select(providers)} FROM providers ORDER BY providers.name COLLATE "binary"`,
});

// The statuses are literals, so that the partial index of open orders can be used.
const ORDER_FIGURES = query({
  parameters: { providerId: number },
  columns: { open: number, unknown: number, oldestUncheckedAt: nullable(number) },
  text: `SELECT count(*) AS "open", count(*) FILTER (WHERE placement = 'unknown') AS "unknown",
      min(polled_at) AS "oldestUncheckedAt"
    FROM orders WHERE provider_id = :providerId AND ${OPEN_ORDER_CONDITION}`,
});

// Reads all orders if none refers to the provider. An index would slow down every new order, and providers are rarely
// deleted.
const USES = query({
  parameters: { providerId: number },
  columns: { services: number, orders: boolean },
  text: `SELECT (SELECT count(*) FROM services WHERE provider_id = :providerId
        OR EXISTS (SELECT 1 FROM service_routes WHERE service_id = services.id AND service_routes.provider_id = :providerId)
      ) AS "services",
    CASE WHEN EXISTS (SELECT 1 FROM orders WHERE provider_id = :providerId)
        OR EXISTS (SELECT 1 FROM attempts WHERE provider_id = :providerId) THEN 1 ELSE 0 END AS "orders"`,
});

// Two index searches per provider, for any number of orders. The conditions repeat those of the partial indexes
// `orders_queued` and `orders_polled`.
const NEXT_DUE = query({
  columns: { dueAt: nullable(number), requestsDueAt: nullable(number) },
  text: `SELECT min(due_at) AS "dueAt",
      (SELECT min(next_at) FROM order_requests WHERE next_at IS NOT NULL) AS "requestsDueAt" FROM (
      SELECT (SELECT min(next_submit_at) FROM orders WHERE provider_id = providers.provider_id
        AND placement = 'queued' AND status = 'PENDING') AS due_at FROM providers
      UNION ALL
      SELECT (${OLDEST_DUE_POLL} AND provider_id = providers.provider_id) FROM providers
    ) AS due`,
});

// Status and placement are literals, so that the partial index can be used.
const HASTEN_SUBMISSIONS = statement({
  parameters: { providerId: number, now: number },
  writes: [orders],
  text: `UPDATE orders SET next_submit_at = :now
    WHERE provider_id = :providerId AND placement = 'queued' AND status = 'PENDING' AND next_submit_at > :now`,
});

/** Finds a provider by name, ignoring case. Never returns the sandbox, which operators do not see as a provider. */
export function findProvider(reader: Reader, name: string): Provider | undefined {
  const provider = reader.row(providers.byName, name);
  return provider?.providerId === SANDBOX_PROVIDER ? undefined : provider;
}

/** The provider with that number, which must exist. */
export function getProvider(reader: Reader, providerId: number): Provider {
  const provider = reader.row(providers.byKey, providerId);
  if (!provider) throw new Error(`there is no provider ${providerId}`);
  return provider;
}

/** All providers by name, without the sandbox. */
export function listProviders(reader: Reader): Provider[] {
  return listAllProviders(reader).filter(({ providerId }) => providerId !== SANDBOX_PROVIDER);
}

export function countPausedProviders(reader: Reader): number {
  return listProviders(reader).filter(isPaused).length;
}

/** Names by provider number, in the order of the names, without the sandbox. */
export function namesOfProviders(reader: Reader): Map<number, string> {
  return new Map(listProviders(reader).map(({ providerId, name }) => [providerId, name]));
}

/** All providers by name, including the sandbox. */
export function listAllProviders(reader: Reader): Provider[] {
  return reader.all(ALL);
}

export function readProviderOrders(reader: Reader, providerId: number): ProviderOrders {
  return reader.one(ORDER_FIGURES, { providerId })!;
}

/**
 * Returns when the next submission or poll (`dueAt`) and the next request (`requestsDueAt`) of any provider are due.
 * The times are in the past if overdue, and null if none is scheduled.
 */
export function nextDueTimes(reader: Reader) {
  return reader.one(NEXT_DUE)!;
}

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

/** Records a successful call. Skips the sandbox, which is not monitored and whose row must stay unchanged. */
export function updateLastSuccess(tx: Tx, providerId: number, at: number): void {
  if (providerId === SANDBOX_PROVIDER) return;
  tx.update(providers, { providerId }, { lastSuccessAt: at });
}

/**
 * Records that the provider accepted or refused an order, which ends a row of unknown outcomes. Skips the sandbox,
 * which is not monitored.
 */
export function noteAnswered(tx: Tx, providerId: number): void {
  if (providerId === SANDBOX_PROVIDER) return;
  tx.update(providers, { providerId }, ANSWERED);
}

/** Makes the queued orders of a provider due at once. */
export function hastenSubmissions(tx: Tx, providerId: number, now: number): void {
  tx.run(HASTEN_SUBMISSIONS, { providerId, now });
}

/** Records the time since which a provider refuses orders for lack of funds; null: it has funds again. */
export function updateOutOfFunds(tx: Tx, providerId: number, at: number | null): void {
  tx.update(providers, { providerId }, { outOfFundsAt: at });
}
