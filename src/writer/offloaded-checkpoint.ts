// Offloaded checkpoints: when a long read transaction has let the WAL grow, a checkpoint in the writer thread would
// delay the next batch for too long, so it runs in a second thread. Only one runs at a time.

import type { CheckpointMode } from "../storage/file/checkpoint.ts";
import { messageOf, type ToThread } from "./messages.ts";

/** Pause after a checkpoint that could write nothing because of a reader. */
const RETRY_MS = 1000;

export interface OffloadedCheckpoint {
  /** Starts a checkpoint. Does nothing while one runs, and for RETRY_MS after one that could write nothing. */
  start(): void;
  /** Resolves once no checkpoint is running. */
  idle(): Promise<void>;
}

/**
 * Returns the functions that start and await these checkpoints. `onFatal` is called when the database or its disk
 * fails.
 */
export function createOffloadedCheckpoint(
  thread: URL,
  path: string,
  mode: CheckpointMode,
  onFatal: (cause: string) => void,
): OffloadedCheckpoint {
  let running: Promise<void> | null = null;
  return {
    start() {
      running ??= runCheckpoint(thread, { checkpoint: path, mode }, onFatal).then(
        async (checkpointed) => {
          if (!checkpointed) await Bun.sleep(RETRY_MS);
          running = null;
        },
      );
    },
    idle: async () => void (await running),
  };
}

/** Runs a checkpoint in a thread. Resolves with whether any page was written to the database file. */
function runCheckpoint(
  thread: URL,
  message: ToThread,
  onFatal: (cause: string) => void,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const worker = new Worker(thread);
  worker.onmessage = (event: MessageEvent<string>) => {
    const reply = messageOf(event.data);
    if ("fatal" in reply) onFatal(reply.fatal);
    worker.terminate();
    resolve("checkpointed" in reply && reply.checkpointed);
  };
  worker.onerror = () => resolve(false);
  worker.postMessage(JSON.stringify(message));
  return promise;
}
