// When the WAL is checkpointed, so that no response waits for it: when the writer is idle, or between two batches once
// the WAL is long. A checkpoint costs two fsyncs and writes a page once, however many batches changed it, so a late one
// is cheaper. The WAL restarts from its beginning only when no reader uses it, so the writer waits a few milliseconds
// for the readers of requests, and tries again soon when one of them was preempted for longer. What a long reader (a
// backup, a verification) keeps in the WAL is checkpointed by a thread of its own: PASSIVE checkpoints do not block the
// writer. Where a replicator (Litestream) checkpoints, nothing here does: docs/decisions/0034-checkpoints-by-a-replicator.md

import type { Database } from "bun:sqlite";
import { type Connection } from "../db/sqlite/connection.ts";
import { isTransientError } from "../db/sqlite/errors.ts";

/** From here on a checkpoint is run when idle: 4 MB, as SQLite's wal_autocheckpoint. */
const IDLE_PAGES = 1000;
/** From here on it is run between two batches: recovery of 16 MB after a crash is quick. */
const IMMEDIATE_PAGES = 4000;
/** Above this a checkpoint would delay the next batch for too long: it is offloaded. */
const OFFLOADED_PAGES = 8000;
/** Above this it is run in the writer all the same: the other thread cannot keep up, and 256 MB are enough. */
const LIMIT_PAGES = 64_000;
/** How long the writer waits for readers: many times the lifetime of a request's snapshot. */
const READER_WAIT_MS = 5;
/** The same when the server ends. */
const END_WAIT_MS = 250;
/** After a reader prevented the restart the writer tries again at 1 MB more: a preempted reader has ended by then. */
const RETRY_PAGES = 250;
/** The growth of what a long reader pins in the WAL after which the writer tries again. */
const RETRY_GROWTH = 2;

/** Who checkpoints: this program, or a replicator that copies the WAL before it does. */
export type CheckpointMode = "internal" | "external";

/** The length of the WAL above which something is wrong: a reader that does not end, or no replicator that runs. */
export const WAL_LIMIT_BYTES = LIMIT_PAGES * 4096;

/** Which checkpoint is due: none, idle, immediate, or offloaded to a thread. */
export type CheckpointDue = "none" | "idle" | "immediate" | "offloaded";

/** The checkpoints of the writer's own thread. */
export interface Checkpointer {
  /** Costs a microsecond. */
  checkpointDue(): CheckpointDue;
  /** Checkpoints the whole WAL and restarts it, unless a reader prevents that for longer than READER_WAIT_MS. */
  run(): void;
}

/** Of --checkpoint external: only above the limit, and then one that takes nothing from the WAL (PASSIVE). */
export function createExternalCheckpointer(
  { sqlite }: Connection,
  limitPages = LIMIT_PAGES,
): Checkpointer {
  return {
    checkpointDue() {
      const { log, checkpointed } = walPages(sqlite);
      return log - checkpointed > limitPages ? "offloaded" : "none";
    },
    run() {},
  };
}

export function createCheckpointer({ sqlite }: Connection): Checkpointer {
  /** The pages that a long reader pinned in the WAL at the last try; lower once it has ended. */
  let pinned = 0;
  return {
    checkpointDue() {
      const { log, checkpointed } = walPages(sqlite);
      const pages = log - checkpointed;
      pinned = Math.min(pinned, pages);
      const isDue = log >= IMMEDIATE_PAGES && pages >= Math.max(RETRY_PAGES, pinned * RETRY_GROWTH);
      if (isDue && (pages <= OFFLOADED_PAGES || pages > LIMIT_PAGES)) return "immediate";
      if (pages < IDLE_PAGES) return "none";
      return pages <= OFFLOADED_PAGES ? "idle" : "offloaded";
    },
    run() {
      const { timeout } = sqlite.query("PRAGMA busy_timeout").get() as { timeout: number };
      sqlite.run(`PRAGMA busy_timeout = ${READER_WAIT_MS}`);
      walCheckpoint(sqlite, "RESTART");
      sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
      const { log, checkpointed } = walPages(sqlite);
      pinned = log - checkpointed;
    },
  };
}

/** Pages in the WAL, and how many of them are in the database file too. */
function walPages(sqlite: Database): { log: number; checkpointed: number } {
  return sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };
}

/** Before the server closes the database. A reader of another process must not delay the stop. */
export function checkpointAtEnd({ sqlite }: Connection): void {
  sqlite.run(`PRAGMA busy_timeout = ${END_WAIT_MS}`);
  walCheckpoint(sqlite, "TRUNCATE");
}

/** A PASSIVE checkpoint, which does not block the writer. False when it could write nothing. */
export function checkpoint({ sqlite }: Connection): boolean {
  const before = walPages(sqlite).checkpointed;
  walCheckpoint(sqlite, "PASSIVE");
  return walPages(sqlite).checkpointed > before;
}

/** A transient error (disk full, database locked) is ignored: a later checkpoint does the work. */
function walCheckpoint(sqlite: Database, mode: "PASSIVE" | "RESTART" | "TRUNCATE"): void {
  try {
    sqlite.query(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (error) {
    if (!isTransientError(error)) throw error;
  }
}
