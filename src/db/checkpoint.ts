// Moving committed pages from the write-ahead log into the database, so that no answer waits for it: after the
// answers of a batch are sent, and only as much as is quickly done. What piles up behind a long reader (a backup,
// a verification) is left to a thread of its own: PASSIVE checkpoints run beside the writer and block nobody.

import { type Connection, isPassingTrouble } from "./connection.ts";

/** Below this the log is left alone. 4 MB: SQLite's own limit. */
const LIGHT_PAGES = 1000;
/** Above this a checkpoint would hold up the next batch: 16 MB can take 40 ms. */
const HEAVY_PAGES = 4000;

/** How much is waiting to be moved. */
export type Backlog = "little" | "some" | "much";

/** Costs a microsecond. */
export function backlogOf({ sqlite }: Connection): Backlog {
  const { log, checkpointed } = sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as {
    log: number;
    checkpointed: number;
  };
  const pages = log - checkpointed;
  if (pages < LIGHT_PAGES) return "little";
  return pages <= HEAVY_PAGES ? "some" : "much";
}

/** Moves what no reader still needs. A full disk or another process at it changes nothing: there is a next time. */
export function checkpoint({ sqlite }: Connection): void {
  try {
    sqlite.query("PRAGMA wal_checkpoint(PASSIVE)").get();
  } catch (error) {
    if (!isPassingTrouble(error)) throw error;
  }
}
