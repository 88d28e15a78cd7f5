// Providers, and figures of their orders. The provider's key is read only to call the provider, and never shown.

import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import { OLDEST_DUE_POLL } from "./polling.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select } from "./query.ts";
import { nullable, number } from "./table-definition.ts";
import { providers } from "./tables.ts";

export interface Provider {
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

// Two index searches for each provider, however many orders there are: the conditions repeat those of the partial
// indexes `orders_queued` and `orders_followed`.
const NEXT_DUE = query({
  gives: { dueAt: nullable(number) },
  text: `SELECT min(due_at) AS "dueAt" FROM (
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

/** With the sandbox. */
export function listAllProviders(reader: Reader): Provider[] {
  return reader.all(ALL);
}

export function readProviderOrders(reader: Reader, providerId: number): ProviderOrders {
  return reader.one(ORDER_FIGURES, { providerId })!;
}

/** When the next submission or poll of any provider is due, in the past if overdue; null when none is scheduled. */
export function nextDueAt(reader: Reader): number | null {
  return reader.one(NEXT_DUE)!.dueAt;
}

export function insertProvider(
  tx: Tx,
  provider: Pick<Provider, "name" | "protocol" | "url" | "key" | "createdAt">,
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
