// Decides when the WAL is checkpointed, so that no response waits for it: when the writer is idle, or between two
// batches once the WAL is long. A checkpoint costs two fsyncs, and writes a page once even if many batches changed it.
// So late checkpoints cost less. The WAL restarts from its beginning only when no reader uses it. So the writer waits a
// few milliseconds for the readers of requests, and soon tries again if one of them took longer. Pages that a long
// reader (a backup, a verification) keeps in the WAL are checkpointed by a separate thread, because PASSIVE checkpoints
// do not block the writer. If a replicator (Litestream) checkpoints, this program does not:
// docs/decisions/0008-checkpoints-outside-the-commit.md

import type { Database } from "bun:sqlite";
import { type Connection } from "../../db/sqlite/connection.ts";
import { isTransientError } from "../../db/sqlite/errors.ts";

/** Length of the WAL from which a checkpoint runs when idle: 4 MB, like SQLite's wal_autocheckpoint. */
const IDLE_PAGES = 1000;
/** Length from which it runs between two batches: recovering 16 MB after a crash is quick. */
const IMMEDIATE_PAGES = 4000;
/** Length above which a checkpoint is offloaded, because it would delay the next batch for too long. */
const OFFLOADED_PAGES = 8000;
/** Length above which it runs in the writer anyway: at 256 MB the other thread cannot keep up. */
const LIMIT_PAGES = 64_000;
/** How long the writer waits for readers: many times the lifetime of a request's snapshot. */
const READER_WAIT_MS = 5;
/** How long the server waits for readers when it ends. */
const END_WAIT_MS = 250;
/** Growth (1 MB) after which the writer tries again when a short reader prevented the restart. */
const RETRY_PAGES = 250;
/** Factor of growth after which the writer tries again when a long reader pins a part of the WAL. */
const RETRY_GROWTH = 2;

/** Who checkpoints: this program, or a replicator that first copies the WAL. */
export type CheckpointMode = "internal" | "external";

/**
 * Length of the WAL above which something is wrong: a reader that does not end, or a replicator that is not running.
 */
export const WAL_LIMIT_BYTES = LIMIT_PAGES * 4096;

/** The checkpoint that is due: none, idle, immediate, or offloaded to a thread. */
export type CheckpointDue = "none" | "idle" | "immediate" | "offloaded";

/** Runs the checkpoints of the writer's own thread. */
export interface Checkpointer {
  /** Returns which checkpoint is due; takes a microsecond. */
  checkpointDue(): CheckpointDue;
  /** Checkpoints the whole WAL and restarts it, unless a reader prevents that for longer than READER_WAIT_MS. */
  run(): void;
}

/**
 * Creates the checkpointer for --checkpoint external. It checkpoints only above the limit, and then in PASSIVE mode,
 * which removes nothing from the WAL.
 */
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
  /** Number of pages that a long reader pinned in the WAL at the last try; lower once that reader has ended. */
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

/** Returns the number of pages in the WAL, and how many of them are also in the database file. */
function walPages(sqlite: Database): { log: number; checkpointed: number } {
  return sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };
}

/** Checkpoints before the server closes the database. A reader of another process must not delay the stop. */
export function checkpointAtEnd({ sqlite }: Connection): void {
  sqlite.run(`PRAGMA busy_timeout = ${END_WAIT_MS}`);
  walCheckpoint(sqlite, "TRUNCATE");
}

/** Runs a PASSIVE checkpoint, which does not block the writer. Returns false if it could not write anything. */
export function checkpoint({ sqlite }: Connection): boolean {
  const before = walPages(sqlite).checkpointed;
  walCheckpoint(sqlite, "PASSIVE");
  return walPages(sqlite).checkpointed > before;
}

/** Runs a checkpoint. Ignores transient errors (disk full, database locked): a later checkpoint does the work. */
function walCheckpoint(sqlite: Database, mode: "PASSIVE" | "RESTART" | "TRUNCATE"): void {
  try {
    sqlite.query(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (error) {
    if (!isTransientError(error)) throw error;
  }
}
