// Marks the target of a `move` with a table. The table exists from before the first row until all rows are committed.
// So a target without its rows is never taken for an empty database, even if the process was killed.

import { Database } from "bun:sqlite";
import { chmodSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { UNFINISHED_MOVE } from "../../db/port/database-state.ts";
import { waitForLocks } from "../file/busy-timeout.ts";
import { sizeOf, syncPath } from "../file/files.ts";
import { OpenError, openErrorOf } from "../file/open-error.ts";

export const MARK = `CREATE TABLE ${UNFINISHED_MOVE} (marked INTEGER) STRICT`;
export const UNMARK = `DROP TABLE ${UNFINISHED_MOVE}`;

/** The state before the move: no database, a database without rows, or the rest of an earlier move. */
export type TargetOrigin = "none" | "empty" | "unfinished";

/** Returns the path of the file that becomes the database once it is marked. */
function begunFile(path: string): string {
  return `${path}.moving`;
}

/**
 * Returns a message if a move was killed after it created the marked file and before it renamed it to the database.
 * Returns null otherwise.
 */
export function whyMoveBegun(path: string): string | null {
  if (!existsSync(begunFile(path)) || sizeOf(path) > 0) return null;
  return `${path} is the target of an unfinished move: repeat the move, or remove ${begunFile(path)}`;
}

export function refuseMoveBegun(path: string): void {
  const why = whyMoveBegun(path);
  if (why !== null) throw new OpenError(why);
}

/** Returns whether a database has the mark. */
export function isUnfinished(path: string): boolean {
  const sqlite = new Database(path, { readonly: true });
  try {
    return hasMark(sqlite);
  } catch (error) {
    throw openErrorOf(error, path) ?? error;
  } finally {
    sqlite.close();
  }
}

function hasMark(sqlite: Database): boolean {
  return sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(UNFINISHED_MOVE) !== null;
}

/**
 * Creates a marked database if there is none, under the lock of the data directory. It is marked before it gets its
 * name.
 */
export function createMarked(path: string): void {
  const begun = begunFile(path);
  removeDatabase(begun);
  // Removes the log too: SQLite would delete it anyway when it opens a database file without pages.
  removeDatabase(path);
  const sqlite = new Database(begun, { readwrite: true, create: true });
  try {
    sqlite.run(MARK);
  } finally {
    sqlite.close();
  }
  chmodSync(begun, 0o600);
  syncPath(begun);
  renameSync(begun, path);
  syncPath(dirname(path));
}

/** Undoes a move that was not committed: removes the new database, or its mark. All connections must be closed. */
export function unmarkTarget(path: string, origin: TargetOrigin): void {
  if (origin === "none") removeDatabase(path);
  if (origin !== "empty") return;
  const sqlite = openMarked(path);
  try {
    sqlite.run(UNMARK);
  } finally {
    sqlite.close(true);
  }
}

function openMarked(path: string): Database {
  const sqlite = new Database(path, { readwrite: true });
  waitForLocks(sqlite);
  sqlite.run("PRAGMA synchronous = FULL");
  return sqlite;
}

function removeDatabase(path: string): void {
  for (const suffix of ["-wal", "-shm", "-journal", ""]) rmSync(path + suffix, { force: true });
}
