// A connection, and the one way to write on it: transact.
// Reads take a Connection, writes take a Tx, and only transact hands out a Tx.

import type { Database } from "bun:sqlite";
import { type SQL, sql } from "drizzle-orm";
import { drizzle, type BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { createSqliteStore, type SqliteStore } from "./store.ts";

export interface Connection {
  readonly sqlite: Database;
  readonly orm: BunSQLiteDatabase;
  /** The row port on it. */
  readonly store: SqliteStore;
  /** Absolute path of the database file. */
  readonly path: string;
}

declare const writing: unique symbol;
/** A connection inside a write transaction. */
export type Tx = Connection & { readonly [writing]: true };

/** Rejects an async function at compile time: its transaction would commit at its first await. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : T;

/** `keepRows`: see createSqliteStore. */
export function connectionOf(sqlite: Database, path: string, keepRows = false): Connection {
  const store = createSqliteStore(sqlite, keepRows);
  return { sqlite, orm: drizzle({ client: sqlite }), store, path };
}

/** Runs `body` between BEGIN IMMEDIATE and COMMIT; if it throws, everything is rolled back. */
export function transact<T>(connection: Connection, body: (tx: Tx) => Synchronous<T>): T {
  const { sqlite } = connection;
  sqlite.run("BEGIN IMMEDIATE");
  try {
    const result = body(connection as Tx);
    if (result instanceof Promise) throw new Error("a transaction must not be asynchronous");
    sqlite.run("COMMIT");
    return result;
  } catch (error) {
    // After SQLITE_FULL or SQLITE_IOERR SQLite may have rolled back by itself.
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    throw error;
  }
}

/** Runs `body` in a savepoint: if it throws, only its writes are rolled back and the transaction continues. Costs 0.1 µs. */
export function savepoint<T>(tx: Tx, body: () => Synchronous<T>): T {
  const { begin, release } = savepoints(tx);
  begin.run();
  try {
    const result = body();
    release.run();
    return result;
  } catch (error) {
    if (tx.sqlite.inTransaction) tx.sqlite.run("ROLLBACK TO command; RELEASE command");
    throw error;
  }
}

/** Writes a page with its old content. */
export function touchDatabase(tx: Tx): void {
  tx.sqlite.run("PRAGMA user_version = 0");
}

/** Prepares the queries of a file once for each connection, at first use. */
export function prepared<T>(
  prepare: (orm: BunSQLiteDatabase, sqlite: Database) => T,
): (connection: Connection) => T {
  const made = new WeakMap<Database, T>();
  return ({ orm, sqlite }) => {
    let queries = made.get(sqlite);
    if (!queries) made.set(sqlite, (queries = prepare(orm, sqlite)));
    return queries;
  };
}

/** Selects a 64-bit integer: bun:sqlite would return a double, which is not exact above 2^53. */
export function exactly(column: SQLiteColumn): SQL<bigint> {
  return sql`CAST(${column} AS TEXT)`.mapWith(BigInt);
}

const savepoints = prepared((_, sqlite) => ({
  begin: sqlite.query("SAVEPOINT command"),
  release: sqlite.query("RELEASE command"),
}));
