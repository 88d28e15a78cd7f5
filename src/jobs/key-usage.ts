// Records when keys were last used, and from where, and how many requests they made: collected in memory, stored by one
// command each at intervals. A key is written at most once a minute, however often it is used and however often the
// server starts.

import { KEY_USE_INTERVAL_MS } from "../domain/users/keys.ts";
import { Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import { utcDayOf } from "../domain/values/calendar.ts";

/** Interval at which counts are stored. A crash loses the counts since the last time. */
const COUNT_MS = KEY_USE_INTERVAL_MS;
/** Maximum delay until `key list` shows a use. A crash loses the uses since the last time. */
const FLUSH_MS = 10_000;

export interface KeyUsage {
  /**
   * Notes a use, at the cost of a look-up in a map. The address costs more and is computed only once for each write.
   */
  record(keyId: string, now: number, caller: { address(): string }): void;
  /** Counts a request with the key, at the cost of a look-up in a map. `isError`: it got an error. */
  count(keyId: string, isError: boolean): void;
  /** Stores what was collected. Resolves once the job has ended. */
  stop(): Promise<void>;
}

export function startKeyUsage(
  writer: Pick<Writer, "submit">,
  log: Pick<Logger, "error">,
  /** Milliseconds since 1970. */
  now: () => number,
  { interval = FLUSH_MS, countInterval = COUNT_MS } = {},
): KeyUsage {
  const used = new Map<string, { usedAt: number; address: string }>();
  const written = new Map<string, number>();
  const flush = async (): Promise<void> => {
    const uses = [];
    for (const [id, { usedAt, address }] of used) {
      if (Math.abs(usedAt - (written.get(id) ?? 0)) < KEY_USE_INTERVAL_MS) continue;
      uses.push({ id, usedAt, address });
      used.delete(id);
      written.set(id, usedAt);
    }
    if (uses.length === 0) return;
    try {
      await writer.submit("recordKeyUsage", { uses });
    } catch (error) {
      // The disk or the queue is full: a later use is recorded instead.
      if (!(error instanceof Refusal)) {
        log.error({ error: String(error) }, "the last use of keys could not be stored");
      }
    }
  };
  let counts: Counts = new Map();
  const storeCounts = async (): Promise<void> => {
    if (counts.size === 0) return;
    const counted = counts;
    counts = new Map();
    const day = utcDayOf(now());
    const rows = [...counted].map(([id, count]) => ({ id, ...count }));
    try {
      await writer.submit("countKeyRequests", { day, counts: rows });
    } catch (error) {
      // The disk or the queue is full: they are stored with later ones.
      if (error instanceof Refusal) return addTo(counts, counted);
      log.error({ error: String(error) }, "the requests of keys could not be stored");
    }
  };
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(flush);
  }, interval);
  const countTimer = setInterval(() => {
    running = running.then(storeCounts);
  }, countInterval);
  return {
    record(keyId, now, caller) {
      const noted = used.get(keyId);
      if (noted) noted.usedAt = now;
      else used.set(keyId, { usedAt: now, address: caller.address() });
    },
    count(keyId, isError) {
      const counted = counts.get(keyId);
      if (!counted) counts.set(keyId, { requests: 1, errors: isError ? 1 : 0 });
      else {
        counted.requests += 1;
        if (isError) counted.errors += 1;
      }
    },
    stop() {
      clearInterval(timer);
      clearInterval(countTimer);
      return running.then(flush).then(storeCounts);
    },
  };
}

type Counts = Map<string, { requests: number; errors: number }>;

function addTo(counts: Counts, more: Counts): void {
  for (const [id, { requests, errors }] of more) {
    const { requests: r, errors: e } = counts.get(id) ?? { requests: 0, errors: 0 };
    counts.set(id, { requests: requests + r, errors: errors + e });
  }
}
