// Forgets Idempotency-Keys that were used long ago: a few at a time, behind the orders, never before them.

import { Refusal } from "../domain/errors.ts";
import type { Logger } from "../log.ts";
import type { Writer } from "../writer/writer.ts";

const INTERVAL_MILLISECONDS = 60_000;
/** Deleted in one command: about a millisecond of the writer's time. */
const BATCH_LIMIT = 200;
/** Between two full batches: 4,000 keys a second at most. */
const PAUSE_MILLISECONDS = 50;

export interface Upkeep {
  /** Resolves once nothing of it runs any more. */
  stop(): Promise<void>;
}

export function startForgetting(
  writer: Writer,
  log: Logger,
  interval = INTERVAL_MILLISECONDS,
): Upkeep {
  let stopped = false;
  let running = Promise.resolve();
  const forget = async (): Promise<void> => {
    try {
      let forgotten: number;
      do {
        forgotten = await writer.submit("forgetUsedKeys", { limit: BATCH_LIMIT });
        if (forgotten === BATCH_LIMIT) await Bun.sleep(PAUSE_MILLISECONDS);
      } while (forgotten === BATCH_LIMIT && !stopped);
    } catch (error) {
      // No room or no place in the queue: there is a next time.
      if (!(error instanceof Refusal))
        log.error({ error: String(error) }, "keys were not forgotten");
    }
  };
  const timer = setInterval(() => {
    running = running.then(() => (stopped ? undefined : forget()));
  }, interval);
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
      return running;
    },
  };
}
