// The median time to completion of each service, for price lists. It is read again at most every READ_EVERY_MS.

import type { ReadStore } from "../db/port/port.ts";
import { readCompletionTimes } from "../db/reports/completion-times.ts";
import { DAY_MS, MINUTE_MS } from "../domain/values/spans.ts";

const READ_EVERY_MS = 10 * MINUTE_MS;
const DAYS = 30;
/** Fewer orders say little, and would tell one reseller of another's order. */
const LEAST_ORDERS = 5;

interface Cached {
  at: number;
  times: Promise<ReadonlyMap<number, number>>;
}

/** Each database has its own: tests open several in one process. */
const byStore = new WeakMap<ReadStore, Cached>();

/**
 * Returns a function from the number of a service to the median time in milliseconds from its orders to their
 * completion, in the last 30 days and among the newest transitions; null: too few orders were completed.
 */
export async function completionTimes(
  store: ReadStore,
  now: number,
): Promise<(service: number) => number | null> {
  let cached = byStore.get(store);
  // A clock that was set back also reads again.
  if (!cached || Math.abs(now - cached.at) >= READ_EVERY_MS) {
    const read = async () =>
      store.read((reader) => readCompletionTimes(reader, now - DAYS * DAY_MS, LEAST_ORDERS));
    cached = { at: now, times: read() };
    byStore.set(store, cached);
    // A failed read is not kept.
    cached.times.catch(() => byStore.delete(store));
  }
  const times = await cached.times;
  return (service) => times.get(service) ?? null;
}
