// Moving committed pages from the write-ahead log into the database, so that no answer waits for it: in a quiet
// moment, or once so much is there that it must be done between two batches. It costs two fsyncs, and a page that many
// batches wrote is moved once: the later the better. Only a log that nobody reads any more begins anew, so the writer
// waits a moment for requests that do. What piles up behind a long reader (a backup, a verification) is left to a
// thread of its own: PASSIVE checkpoints run beside the writer and block nobody.

import type { Database } from "bun:sqlite";
import { type Connection, isTransientError } from "../db/connection.ts";

/** Below this the log is left alone. 4 MB: SQLite's own limit. */
const LIGHT_PAGES = 1000;
/** Above this it is moved though batches follow each other: 16 MB are soon recovered after a crash. */
const FULL_PAGES = 4000;
/** Above this a checkpoint would hold up the next batch for long. */
const HEAVY_PAGES = 8000;
/** Above this it is done all the same: the other thread cannot keep up, and 256 MB are enough. */
const LIMIT_PAGES = 64_000;
/** How long the writer waits for readers: many times what a request's view lasts. */
const READER_WAIT_MS = 5;
/** By how much the log grows behind a long reader until the writer tries again. */
const HELD_UP_GROWTH = 1.25;

/** Who moves what waits, and when: nobody yet, the writer in a quiet moment or now, or a thread beside it. */
export type CheckpointDue = "nobody" | "quietly" | "now" | "beside";

/** What the writer does about the log. */
export interface Checkpointer {
  /** Costs a microsecond. */
  checkpointDue(): CheckpointDue;
  /** Moves everything, and the log begins anew, unless a reader holds that up for longer than a moment. */
  empty(): void;
}

export function createCheckpointer({ sqlite }: Connection): Checkpointer {
  /** The pages that a long reader left there at the last try; fewer wait once it is gone. */
  let heldUp = 0;
  return {
    checkpointDue() {
      const pages = waitingIn(sqlite);
      heldUp = Math.min(heldUp, pages);
      if (pages < LIGHT_PAGES) return "nobody";
      const isDue = pages >= Math.max(FULL_PAGES, heldUp * HELD_UP_GROWTH);
      if (isDue && (pages <= HEAVY_PAGES || pages > LIMIT_PAGES)) return "now";
      return pages <= HEAVY_PAGES ? "quietly" : "beside";
    },
    empty() {
      const { timeout } = sqlite.query("PRAGMA busy_timeout").get() as { timeout: number };
      sqlite.run(`PRAGMA busy_timeout = ${READER_WAIT_MS}`);
      move(sqlite, "RESTART");
      sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
      heldUp = waitingIn(sqlite);
    },
  };
}

function waitingIn(sqlite: Database): number {
  const { log, checkpointed } = logOf(sqlite);
  return log - checkpointed;
}

/** Pages in the log, and how many of them are in the database too. */
function logOf(sqlite: Database): { log: number; checkpointed: number } {
  return sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };
}

/** Beside the writer: moves what no reader still needs. False where that was nothing. */
export function checkpoint({ sqlite }: Connection): boolean {
  const before = logOf(sqlite).checkpointed;
  move(sqlite, "PASSIVE");
  return logOf(sqlite).checkpointed > before;
}

/** A full disk or another process at it changes nothing: there is a next time. */
function move(sqlite: Database, mode: "PASSIVE" | "RESTART"): void {
  try {
    sqlite.query(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (error) {
    if (!isTransientError(error)) throw error;
  }
}
