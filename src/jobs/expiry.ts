// What a running service does once a minute, behind the orders, never before them: it counts how long it has run,
// forgets Idempotency-Keys that were used long ago, and ends keys that have expired.

import { Refusal } from "../domain/errors.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";

const INTERVAL_MS = 60_000;
/** Deleted in one command: about a millisecond of the writer's time. */
const BATCH_LIMIT = 200;
/** Between two full batches: 4,000 keys a second at most. */
const PAUSE_MS = 50;
/** A wall clock that goes wrong by more than this from one minute to the next was set. */
const STEP_MS = 1000;
/** How long the wall clock must not have been set before keys are ended by it: a wrong one is corrected by then. */
const STEADY_MS = 3_600_000;

export interface BackgroundJob {
  /** Resolves once nothing of it runs any more. */
  stop(): Promise<void>;
}

/** Both in milliseconds. */
export interface Clocks {
  /** Since 1970; may be set. */
  wall: () => number;
  /** Since some moment; nobody sets it. */
  monotonic: () => number;
}

const systemClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

export function startExpiry(
  writer: Writer,
  log: Logger,
  clocks = systemClocks,
  interval = INTERVAL_MS,
): BackgroundJob {
  let stopped = false;
  let running = Promise.resolve();
  let counted = clocks.monotonic();
  const isSteady = watchSteps(clocks);

  const count = async (): Promise<void> => {
    const milliseconds = Math.floor(clocks.monotonic() - counted);
    await writer.submit("addUptime", { milliseconds });
    // Only what was written down: after a refusal the next time counts all of it.
    counted += milliseconds;
  };
  const expire = async (): Promise<void> => {
    let expired: number;
    do {
      expired = await writer.submit("expireIdempotencyRecords", { limit: BATCH_LIMIT });
      if (expired === BATCH_LIMIT) await Bun.sleep(PAUSE_MS);
    } while (expired === BATCH_LIMIT && !stopped);
  };
  const endExpired = async (): Promise<void> => {
    if (!isSteady()) return;
    const keys = await writer.submit("endExpiredKeys", null);
    if (keys.length > 0) log.info({ keys }, "keys have expired");
  };
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // No room or no place in the queue: there is a next time.
      if (!(error instanceof Refusal)) log.error({ error: String(error) }, "a background job failed");
    }
  };
  const timer = setInterval(() => {
    running = running.then(async () => {
      if (stopped) return;
      await guarded(count);
      await guarded(expire);
      await guarded(endExpired);
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

/** Asked at intervals: whether the wall clock has kept pace with the monotonic one for long enough. */
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
