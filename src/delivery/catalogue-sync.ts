// Scheduled syncs: reads a provider's list at intervals and applies its changes within the operator's limits. Changes
// beyond the limits are stored for the operator, who applies them by hand. One server syncs for all servers.
// docs/specification/providers.md#sync-schedule.

import type { ReadStore } from "../db/port/port.ts";
import { listProviders, type Provider } from "../db/providers/providers.ts";
import { SCHEDULE_AUTHOR } from "../domain/administrators/audit.ts";
import { countsOf } from "../domain/providers/sync-counts.ts";
import type { SyncPlan } from "../domain/providers/sync-plan.ts";
import { parseDecimal } from "../domain/providers/rate-decimals.ts";
import { CatalogueError, type UpstreamEntry } from "../domain/providers/upstream-services.ts";
import { Refusal } from "../domain/values/error-table.ts";
import { beyondLimits } from "../domain/providers/sync-limits.ts";
import type { Logger } from "../monitoring/log.ts";
import { planCatalogue, type SyncOptions } from "../operations/providers/providers.ts";
import type { ProviderAddress } from "../providers/protocols.ts";
import { type ProviderApi, ProviderFailure } from "../providers/provider.ts";
import type { Writer } from "../writer/writer.ts";
import type { Ticker } from "../scheduling/ticker.ts";
import { MINUTE_MS } from "../domain/values/spans.ts";

/** Delay after an internal error, so that a provider's list is not read over and over. */
const RETRY_MS = MINUTE_MS;

export interface SyncDeps {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  ticker: Pick<Ticker, "add">;
  connect: (provider: ProviderAddress) => Pick<ProviderApi, "services">;
  /** Whether this server syncs for all servers. */
  isLeader: () => boolean;
}

export interface ScheduledSyncs {
  /** Aborts the calls in flight and waits for the syncs that made them. */
  stop(): Promise<void>;
}

export function startScheduledSyncs(deps: SyncDeps): ScheduledSyncs {
  const { store, log, ticker, isLeader } = deps;
  const stopping = new AbortController();
  const running = new Map<number, Promise<void>>();
  const failedAt = new Map<number, number>();
  const start = (provider: Provider) => {
    const { providerId, name } = provider;
    const sinceFailure = performance.now() - (failedAt.get(providerId) ?? -Infinity);
    const isBusy = running.has(providerId) || sinceFailure < RETRY_MS;
    if (isBusy || stopping.signal.aborted) return;
    const run = syncOnce(deps, provider, stopping.signal)
      // The disk or the queue is full, or someone else changed the catalogue. A later tick tries again.
      .catch((error: unknown) => {
        failedAt.set(providerId, performance.now());
        if (error instanceof Refusal || stopping.signal.aborted) return;
        log.error({ provider: name, error: String(error) }, "a scheduled sync failed");
      })
      .finally(() => running.delete(providerId));
    running.set(providerId, run);
  };
  const end = ticker.add(async (now) => {
    const scheduled = (await store.read(listProviders)).filter(isScheduled);
    const dueInMs = scheduled.map((provider) => untilDue(provider, now));
    if (isLeader()) scheduled.filter((_, at) => dueInMs[at]! <= 0).forEach(start);
    const ahead = dueInMs.filter((each) => each > 0);
    return ahead.length === 0 ? null : Math.min(...ahead);
  });
  return {
    async stop() {
      end();
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

function isScheduled({ active, syncEvery }: Provider): boolean {
  return active && syncEvery !== null;
}

/** Returns the milliseconds until the next sync. If the clock was set back, this is at most one interval. */
function untilDue({ syncedAt, syncEvery }: Provider, now: number): number {
  if (syncedAt === null) return 0;
  return Math.min(syncedAt + syncEvery! - now, syncEvery!);
}

async function syncOnce(deps: SyncDeps, provider: Provider, stop: AbortSignal): Promise<void> {
  const { writer, log } = deps;
  const { providerId, name, syncPriceLimit, syncDeactivationLimit } = provider;
  const hold = async (held: string) => {
    await writer.submit("holdSync", { providerId, held });
    log.warn({ provider: name, held }, "scheduled sync not applied: it waits for the operator");
  };
  const options = optionsOf(provider);
  const planned = await makePlan(deps, provider, options, stop);
  if (stop.aborted) return;
  if (typeof planned === "string") return hold(planned);
  const { upstream, plan } = planned;
  const pricePercent = parseDecimal(syncPriceLimit)!;
  const beyond = beyondLimits(plan, { pricePercent, deactivations: syncDeactivationLimit });
  if (beyond !== null) return hold(beyond);
  const actor = { keyId: null, operator: SCHEDULE_AUTHOR };
  const made = { ...options, plan, isScheduled: true };
  await writer.submit("syncCatalogue", { name, upstream, ...made, actor });
  log.info({ provider: name, ...countsOf(plan) }, "scheduled sync applied");
}

/** Returns the stored options. A provider with a schedule always has a markup: the database ensures it. */
function optionsOf({ markup, syncNew, readableIds }: Provider): SyncOptions {
  return { markup: markup!, newServices: syncNew, readableIds };
}

/** Reads the list and plans its sync. Resolves with a text for the operator if the list cannot be used. */
async function makePlan(
  { store, connect }: SyncDeps,
  provider: Provider,
  options: SyncOptions,
  stop: AbortSignal,
): Promise<{ upstream: UpstreamEntry[]; plan: SyncPlan } | string> {
  try {
    const upstream = await connect(provider).services(stop);
    const plan = await store.read((reader) => planCatalogue(reader, provider, upstream, options));
    return { upstream, plan };
  } catch (error) {
    if (error instanceof ProviderFailure) return `its list cannot be read: ${error.message}`;
    if (error instanceof CatalogueError) return `its list cannot be used: ${error.message}`;
    throw error;
  }
}
