// Moving committed pages from the write-ahead log into the database, so that no answer waits for it: in a quiet
// moment, or once so much is there that it must be done between two batches. It costs two fsyncs, and a page that many
// batches wrote is moved once: the later the better. Only a log that nobody reads any more begins anew, so the writer
// waits a moment for requests that do. What piles up behind a long reader (a backup, a verification) is left to a
// thread of its own: PASSIVE checkpoints run beside the writer and block nobody.

import type { Database } from "bun:sqlite";
import { type Connection, isPassingTrouble } from "./connection.ts";

/** Below this the log is left alone. 4 MB: SQLite's own limit. */
const LIGHT_PAGES = 1000;
/** Above this it is moved though batches follow each other: 16 MB are soon recovered after a crash. */
const FULL_PAGES = 4000;
/** Above this a checkpoint would hold up the next batch for long. */
const HEAVY_PAGES = 8000;
/** How long the writer waits for readers: many times what a request's view lasts. */
const READERS_MILLISECONDS = 5;

/** How much is waiting to be moved: nothing to speak of, enough for a quiet moment, enough for now, too much for the writer. */
export type Backlog = "little" | "some" | "enough" | "much";

/** `heldUp`: the pages that emptyLog left the last time. Costs a microsecond. */
export function backlogOf({ sqlite }: Connection, heldUp: number): Backlog {
  const pages = waitingIn(sqlite);
  if (pages < LIGHT_PAGES) return "little";
  if (pages < Math.max(FULL_PAGES, heldUp + LIGHT_PAGES)) return "some";
  return pages <= HEAVY_PAGES ? "enough" : "much";
}

function waitingIn(sqlite: Database): number {
  const { log, checkpointed } = sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as {
    log: number;
    checkpointed: number;
  };
  return log - checkpointed;
}

/** For the writer: moves everything, and the log begins anew. Returns the pages that a long reader held up. */
export function emptyLog({ sqlite }: Connection): number {
  const { timeout } = sqlite.query("PRAGMA busy_timeout").get() as { timeout: number };
  sqlite.run(`PRAGMA busy_timeout = ${READERS_MILLISECONDS}`);
  move(sqlite, "RESTART");
  sqlite.run(`PRAGMA busy_timeout = ${timeout}`);
  return waitingIn(sqlite);
}

/** Beside the writer: moves what no reader still needs. */
export function checkpoint({ sqlite }: Connection): void {
  move(sqlite, "PASSIVE");
}

/** A full disk or another process at it changes nothing: there is a next time. */
function move(sqlite: Database, mode: "PASSIVE" | "RESTART"): void {
  try {
    sqlite.query(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (error) {
    if (!isPassingTrouble(error)) throw error;
  }
}
