// Providers, and figures of their orders. The provider's key is read only to call the provider, and never shown.

import { asc, eq, sql } from "drizzle-orm";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { OLDEST_DUE_POLL } from "./polling.ts";
import { providers } from "./schema.ts";

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

const queries = prepared((orm) => ({
  byName: orm
    .select()
    .from(providers)
    .where(eq(providers.name, sql.placeholder("name")))
    .prepare(),
  byId: orm
    .select()
    .from(providers)
    .where(eq(providers.providerId, sql.placeholder("providerId")))
    .prepare(),
  all: orm
    .select()
    .from(providers)
    .orderBy(asc(sql`${providers.name} COLLATE BINARY`))
    .prepare(),
  insert: orm
    .insert(providers)
    .values({
      name: sql.placeholder("name"),
      protocol: sql.placeholder("protocol"),
      url: sql.placeholder("url"),
      key: sql.placeholder("key"),
      createdAt: sql.placeholder("createdAt"),
    })
    .returning()
    .prepare(),
  success: orm
    .update(providers)
    .set({ lastSuccessAt: sql`${sql.placeholder("at")}` })
    .where(eq(providers.providerId, sql.placeholder("providerId")))
    .prepare(),
  outOfFunds: orm
    .update(providers)
    .set({ outOfFundsAt: sql`${sql.placeholder("at")}` })
    .where(eq(providers.providerId, sql.placeholder("providerId")))
    .prepare(),
}));

/** Looked up case-insensitively. */
export function findProvider(connection: Connection, name: string): Provider | undefined {
  return queries(connection).byName.get({ name });
}

/** The provider with that number, which must exist. */
export function providerOf(connection: Connection, providerId: number): Provider {
  const provider = queries(connection).byId.get({ providerId });
  if (!provider) throw new Error(`there is no provider ${providerId}`);
  return provider;
}

/** By name. */
export function listProviders(connection: Connection): Provider[] {
  return queries(connection).all.all();
}

export function readProviderOrders(connection: Connection, providerId: number): ProviderOrders {
  // The statuses are literals, so that SQLite can use the partial index of open orders.
  return connection.sqlite
    .query<ProviderOrders, [number]>(
      `SELECT count(*) AS open, count(*) FILTER (WHERE placement = 'unknown') AS unknown,
        min(checked_at) AS oldestUncheckedAt
      FROM orders WHERE provider_id = ? AND status IN ('PENDING', 'PROCESSING')`,
    )
    .get(providerId)!;
}

/** The earliest polledAt among the open placed orders of all providers; null without one. */
export function oldestUncheckedAt(connection: Connection): number | null {
  const times = listProviders(connection)
    .map(({ providerId }) => readProviderOrders(connection, providerId).oldestUncheckedAt)
    .filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** When the next submission or poll of any provider is due, in the past if overdue; null when none is scheduled. */
export function nextDueAt({ sqlite }: Connection): number | null {
  // Two index searches for each provider, however many orders there are: the conditions repeat those of the partial
  // indexes `orders_queued` and `orders_followed`.
  return sqlite
    .query<{ dueAt: number | null }, []>(
      `SELECT min(due_at) AS dueAt FROM (
        SELECT (SELECT min(next_place_at) FROM orders WHERE provider_id = providers.provider_id
          AND placement = 'queued' AND status = 'PENDING') AS due_at FROM providers
        UNION ALL
        SELECT (${OLDEST_DUE_POLL} AND provider_id = providers.provider_id) FROM providers
      )`,
    )
    .get()!.dueAt;
}

export function insertProvider(
  tx: Tx,
  provider: Omit<Provider, "providerId" | "lastSuccessAt" | "outOfFundsAt">,
): Provider {
  return queries(tx).insert.get({ ...provider });
}

export function updateLastSuccess(tx: Tx, providerId: number, at: number): void {
  queries(tx).success.run({ providerId, at });
}

/** Null: it has funds again. */
export function updateOutOfFunds(tx: Tx, providerId: number, at: number | null): void {
  queries(tx).outOfFunds.run({ providerId, at });
}
