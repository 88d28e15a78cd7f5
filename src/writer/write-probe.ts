// Tracks whether the database is writable. While it is not, tries a write without effect every second. Only a commit
// shows that there is disk space again or that another process has released its lock, and there may be no other writes.

import type { Reply } from "../operations/batch/commands.ts";

const PROBE_MS = 1000;

export interface WriteProbe {
  /** False after a batch that failed with a transient error, until one succeeds. */
  isWritable(): boolean;
  /** Called with the replies of every batch. */
  record(replies: readonly Reply[]): void;
  /** Notes that the database is unwritable, for a reason other than the replies of a batch. */
  noteUnwritable(): void;
  stop(): void;
}

/**
 * Creates a probe. `write` submits a write whose replies are passed to `record`. `onChange` is called whenever
 * writability changes.
 */
export function createWriteProbe(
  write: () => void,
  onChange?: (writable: boolean) => void,
): WriteProbe {
  let writable = true;
  let timer: ReturnType<typeof setInterval> | undefined;
  const set = (isWritable: boolean): void => {
    if (isWritable === writable) return;
    writable = isWritable;
    clearInterval(timer);
    if (!writable) timer = setInterval(write, PROBE_MS);
    onChange?.(writable);
  };
  return {
    isWritable: () => writable,
    noteUnwritable: () => set(false),
    record(replies) {
      // Unknown outcomes show neither that the database is writable nor that it is not.
      if (replies.every((reply) => "failed" in reply && reply.code === "outcome_unknown")) return;
      const isRefused = replies.every(
        (reply) => "refused" in reply && reply.refused === "service_unavailable",
      );
      set(!isRefused);
    },
    stop: () => clearInterval(timer),
  };
}
