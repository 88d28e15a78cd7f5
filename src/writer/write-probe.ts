// Whether the database takes writes. While it does not, a write without effect is tried every second: that there is
// room again, or that another process let the file go, shows in a commit only, and there may be no callers.

import type { Reply } from "../operations/commands.ts";

const PROBE_MS = 1000;

export interface WriteProbe {
  /** False from a batch of which nothing could be written until one succeeds. */
  isWritable(): boolean;
  /** Takes note of how a batch ended. */
  note(replies: readonly Reply[]): void;
  /** No further write is tried. */
  stop(): void;
}

/** `write` tries a write whose replies come back through `note`; `onChange` is called when the database stops taking writes, and when it takes them again. */
export function createWriteProbe(
  write: () => void,
  onChange?: (writable: boolean) => void,
): WriteProbe {
  let writable = true;
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    isWritable: () => writable,
    note(replies) {
      const now = !replies.every(
        (reply) => "refused" in reply && reply.refused === "service_unavailable",
      );
      if (now === writable) return;
      writable = now;
      clearInterval(timer);
      if (!writable) timer = setInterval(write, PROBE_MS);
      onChange?.(writable);
    },
    stop: () => clearInterval(timer),
  };
}
