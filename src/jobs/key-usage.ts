// Records when keys were last used, and from where: collected in memory, stored by one command at intervals.
// A key is written at most once a minute, however often it is used and however often the server starts.

import { KEY_USE_INTERVAL_MS } from "../domain/users/keys.ts";
import { Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";

/** Maximum delay until `key list` shows a use. A crash loses the uses of this time. */
const FLUSH_MS = 10_000;

export interface KeyUsage {
  /**
   * Notes a use, at the cost of a look-up in a map. The address costs more and is computed only once for each write.
   */
  record(keyId: string, now: number, caller: { address(): string }): void;
  /** Stores what was collected. Resolves once the job has ended. */
  stop(): Promise<void>;
}

export function startKeyUsage(writer: Writer, log: Logger, interval = FLUSH_MS): KeyUsage {
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
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(flush);
  }, interval);
  return {
    record(keyId, now, caller) {
      const noted = used.get(keyId);
      if (noted) noted.usedAt = now;
      else used.set(keyId, { usedAt: now, address: caller.address() });
    },
    stop() {
      clearInterval(timer);
      return running.then(flush);
    },
  };
}
