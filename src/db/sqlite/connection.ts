// A connection to the database file, with the row port on it.

import type { Database } from "bun:sqlite";
import { createSqliteStore, type SqliteStore } from "./store.ts";

export interface Connection {
  readonly sqlite: Database;
  /** The row port on this connection. */
  readonly store: SqliteStore;
  /** Absolute path of the database file. */
  readonly path: string;
}

/** Puts the row port on an open database. `keepRows`: see createSqliteStore. */
export function connectPort(sqlite: Database, path: string, keepRows = false): Connection {
  return { sqlite, store: createSqliteStore(sqlite, keepRows), path };
}
