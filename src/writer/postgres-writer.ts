// The writer of a server on PostgreSQL: the same queue as that of the writer thread (writer.ts), without a thread. Two
// batches are in flight at once, so that one is prepared while the other is committed.

import { refusal } from "../domain/refusals.ts";
import type { Store } from "../db/port.ts";
import { type CommandRequest, type Reply, runBatch } from "../operations/commands.ts";
import { createCommandQueue } from "./queue.ts";
import { createWriteProbe } from "./write-probe.ts";
import type { Writer } from "./writer.ts";

/** As many as the store has connections for them. */
const IN_FLIGHT_LIMIT = 2;
/** Commands that may wait: as in writer.ts. */
const QUEUE_LIMIT = 4096;

export interface PostgresWriterOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called after each batch, committed or failed, before the promises of its commands settle. */
  onBatch?: (commands: readonly CommandRequest[], seconds: number) => void;
  /** Called when the database stops being writable, and when it is again. */
  onWritable?: (writable: boolean) => void;
  queueLimit?: number;
}

/**
 * While the database takes no writes, commands are refused at once: the store has waited for a primary as long as a caller
 * may be expected to wait, and each later command would wait as long again.
 */
export function createPostgresWriter({
  store,
  now,
  onBatch,
  onWritable,
  queueLimit = QUEUE_LIMIT,
}: PostgresWriterOptions): Writer {
  const queue = createCommandQueue();
  const idle = Promise.withResolvers<void>();
  let isClosing = false;
  let inFlight = 0;

  const repliesTo = async (requests: readonly CommandRequest[]): Promise<readonly Reply[]> => {
    try {
      return await runBatch(store, requests, now(), crypto.randomUUID());
    } catch (error) {
      // An internal error: what was committed is not known.
      const failed = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return requests.map(() => ({ failed }));
    }
  };
  const run = async (): Promise<void> => {
    const requests = queue.takeBatch();
    // Several batches are in flight: this one is held here, not by the queue.
    const batch = queue.endBatch();
    const started = performance.now();
    const replies = await repliesTo(requests);
    inFlight -= 1;
    probe.note(replies);
    flush();
    onBatch?.(requests, (performance.now() - started) / 1000);
    batch.settle(replies);
  };
  const flush = (): void => {
    while (inFlight < IN_FLIGHT_LIMIT && queue.length() > 0) {
      inFlight += 1;
      void run();
    }
    if (isClosing && inFlight === 0) idle.resolve();
  };
  let isFlushDue = false;
  /** Commands that are submitted in one turn of the event loop share a batch. */
  const flushSoon = (): void => {
    if (isFlushDue || inFlight === IN_FLIGHT_LIMIT) return;
    isFlushDue = true;
    setImmediate(() => {
      isFlushDue = false;
      flush();
    });
  };
  const tryToWrite = (): void => {
    if (queue.length() > 0 || isClosing) return;
    queue.add("probe", undefined).catch(() => {});
    flushSoon();
  };
  const probe = createWriteProbe(tryToWrite, (writable) => {
    if (!writable) {
      queue.rejectAll("");
      tryToWrite();
    }
    onWritable?.(writable);
  });

  return {
    submit(name, input) {
      if (isClosing || !probe.isWritable() || queue.length() >= queueLimit) {
        return Promise.reject(refusal("service_unavailable"));
      }
      const output = queue.add(name, input);
      flushSoon();
      return output;
    },
    queueLength: () => queue.length(),
    isWritable: () => probe.isWritable(),
    async close() {
      isClosing = true;
      probe.stop();
      flush();
      await idle.promise;
    },
  };
}
