// The background job that runs once a minute. It counts the server's running time, deletes old idempotency records
// and old records of webhooks and e-mails, ends inspections of the portal, and deactivates expired keys.

import { Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import { MINUTE_MS, HOUR_MS } from "../domain/values/spans.ts";

const INTERVAL_MS = MINUTE_MS;
/** Records deleted by one command: about a millisecond of the writer's time. */
const BATCH_LIMIT = 200;
/** Delay between two full batches: at most 4,000 records a second. */
const DELAY_MS = 50;
/** If the wall clock gains or loses more than this against the monotonic clock between two runs, somebody set it. */
const STEP_MS = 1000;
/**
 * Keys and records of webhooks expire only if the wall clock was not set for this long: within that time a wrong clock
 * is corrected.
 */
const STEADY_MS = HOUR_MS;

export interface BackgroundJob {
  /** Resolves once the job has ended. */
  stop(): Promise<void>;
}

/** Both in milliseconds. */
export interface Clocks {
  /** The wall clock: milliseconds since 1970; may be set. */
  wall: () => number;
  monotonic: () => number;
}

const systemClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

export interface HousekeepingOptions {
  clocks?: Clocks;
  interval?: number;
  /** Returns whether this server deletes and deactivates on behalf of all servers. */
  isLeader?: () => boolean;
}

/** Starts the job; resolves once the running time is being counted. */
export async function startHousekeeping(
  writer: Writer,
  log: Logger,
  {
    clocks = systemClocks,
    interval = INTERVAL_MS,
    isLeader = () => true,
  }: HousekeepingOptions = {},
): Promise<BackgroundJob> {
  let stopped = false;
  let running = Promise.resolve();
  let counted = clocks.monotonic();
  let seen: number | null = null;
  const isSteady = watchSteps(clocks);

  const count = async (): Promise<void> => {
    const milliseconds = Math.floor(clocks.monotonic() - counted);
    const uptime = await writer.submit("addUptime", { milliseconds, seen });
    seen = uptime.milliseconds;
    // Advances only when the time was stored: after a refusal the next run counts all of it. Without
    // `added`, another server may have counted the time up to this reply, so count only from now on.
    if (uptime.added) counted += milliseconds;
    else counted = clocks.monotonic();
  };
  const expireAll = async (
    name: "expireIdempotencyRecords" | "expireWebhooks" | "expireMails",
  ): Promise<void> => {
    let expired: number;
    do {
      expired = await writer.submit(name, { limit: BATCH_LIMIT });
      if (expired === BATCH_LIMIT) await Bun.sleep(DELAY_MS);
    } while (expired === BATCH_LIMIT && !stopped);
  };
  const deactivateExpired = async (): Promise<void> => {
    const keys = await writer.submit("endExpiredKeys", null);
    if (keys.length > 0) log.info({ keys }, "keys have expired");
  };
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // The disk or the queue is full: the next run continues.
      if (!(error instanceof Refusal))
        log.error({ error: String(error) }, "a background job failed");
    }
  };
  await guarded(count);
  const timer = setInterval(() => {
    running = running.then(async () => {
      if (stopped) return;
      await guarded(count);
      if (isLeader()) await guarded(() => expireAll("expireIdempotencyRecords"));
      if (isLeader()) await guarded(() => writer.submit("endInspections", null).then(() => {}));
      if (!isSteady() || !isLeader()) return;
      await guarded(() => expireAll("expireWebhooks"));
      await guarded(() => expireAll("expireMails"));
      await guarded(deactivateExpired);
    });
  }, interval);
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
      await guarded(count);
    },
  };
}

/**
 * Returns a function, to be called at intervals, that says whether the wall clock has agreed with the monotonic one
 * for STEADY_MS.
 */
function watchSteps({ wall, monotonic }: Clocks): () => boolean {
  let steadySince = monotonic();
  let offset = wall() - steadySince;
  return () => {
    const now = monotonic();
    const before = offset;
    offset = wall() - now;
    if (Math.abs(offset - before) > STEP_MS) steadySince = now;
    return now - steadySince >= STEADY_MS;
  };
}
