// The median time to completion of each service, for price lists. It is read in the background, in short steps, so no
// visitor waits for it and no request is held up.

import type { ReadStore } from "../db/port/port.ts";
import { newestTransition, readCompleted } from "../db/reports/completion-times.ts";
import { DAY_MS, MINUTE_MS } from "../domain/values/spans.ts";

const READ_EVERY_MS = 10 * MINUTE_MS;
const DAYS = 30;
/** Fewer orders say little, and would tell one reseller of another's order. */
const LEAST_ORDERS = 5;
/** Transitions of one step: about a millisecond. */
const STEP = 500;
/** Limit for the steps of one reading. Services without completed orders in them have no time. */
const STEPS_LIMIT = 100;
/** Pause between two steps. */
const PAUSE_MS = 5;

export interface CompletionTimes {
  /**
   * Returns the median time in milliseconds from the orders of a service, by its number, to their completion, in the
   * last 30 days; null: too few orders were completed, or the times are not known yet. Times of more than ten minutes
   * ago are read again, for later calls.
   */
  of(service: number): number | null;
  /** Reads the times now. */
  read(): Promise<void>;
}

/** `onError`: told of a failed reading, after which the times stay as they are. */
export function createCompletionTimes(
  store: ReadStore,
  now: () => number,
  onError: (error: unknown) => void,
): CompletionTimes {
  let medians: ReadonlyMap<number, number> = new Map();
  let readAt: number | null = null;
  let reading: Promise<void> | null = null;
  const read = () =>
    (reading ??= readMedians(store, now())
      .then((found) => void (medians = found), onError)
      .finally(() => {
        readAt = now();
        reading = null;
      }));
  return {
    of(service) {
      // A clock that was set back also reads again.
      if (readAt === null || Math.abs(now() - readAt) >= READ_EVERY_MS) void read();
      return medians.get(service) ?? null;
    },
    read,
  };
}

/** Reads the newest transitions, the newest first. */
async function readMedians(store: ReadStore, now: number): Promise<Map<number, number>> {
  const times = new Map<number, number[]>();
  let upTo = await store.read(newestTransition);
  for (let step = 0; step < STEPS_LIMIT && upTo > 0; step++) {
    const above = upTo - STEP;
    const range = { above, upTo };
    const found = await store.read((reader) => readCompleted(reader, range, now - DAYS * DAY_MS));
    for (const { service, tookMs } of found) {
      const known = times.get(service);
      if (known) known.push(tookMs);
      else times.set(service, [tookMs]);
    }
    upTo = above;
    await Bun.sleep(PAUSE_MS);
  }
  const enough = [...times].filter(([, took]) => took.length >= LEAST_ORDERS);
  return new Map(enough.map(([service, took]) => [service, medianOf(took)]));
}

/** Returns the lower one of two medians. */
function medianOf(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(times.length / 2) - 1]!;
}
