// Moving committed pages from the write-ahead log into the database, so that no answer waits for it: in a quiet
// moment, or once so much is there that it must be done between two batches. It costs two fsyncs, and a page that many
// batches wrote is moved once: the later the better. What piles up behind a long reader (a backup, a verification)
// is left to a thread of its own: PASSIVE checkpoints run beside the writer and block nobody.

import { type Connection, isPassingTrouble } from "./connection.ts";

/** Below this the log is left alone. 4 MB: SQLite's own limit. */
const LIGHT_PAGES = 1000;
/** Above this it is moved though batches follow each other: 16 MB bound the log, and its recovery after a crash. */
const FULL_PAGES = 4000;
/** Above this a checkpoint would hold up the next batch for long. */
const HEAVY_PAGES = 8000;

/** How much is waiting to be moved: nothing to speak of, enough for a quiet moment, enough for now, too much for the writer. */
export type Backlog = "little" | "some" | "enough" | "much";

/** Costs a microsecond. */
export function backlogOf({ sqlite }: Connection): Backlog {
  const { log, checkpointed } = sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as {
    log: number;
    checkpointed: number;
  };
  const pages = log - checkpointed;
  if (pages < LIGHT_PAGES) return "little";
  if (pages < FULL_PAGES) return "some";
  return pages <= HEAVY_PAGES ? "enough" : "much";
}

/** Moves what no reader still needs. A full disk or another process at it changes nothing: there is a next time. */
export function checkpoint({ sqlite }: Connection): void {
  try {
    sqlite.query("PRAGMA wal_checkpoint(PASSIVE)").get();
  } catch (error) {
    if (!isPassingTrouble(error)) throw error;
  }
}
