// A connection, and the one way to write on it: transact.
// Reads take a Connection, writes take a Tx, and only transact hands out a Tx.

import type { Database } from "bun:sqlite";
import { drizzle, type BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

export interface Connection {
  readonly sqlite: Database;
  readonly orm: BunSQLiteDatabase;
  /** Absolute path of the database file. */
  readonly path: string;
}

declare const writing: unique symbol;
/** A connection inside a write transaction. */
export type Tx = Connection & { readonly [writing]: true };

/** Refuses at compile time what would commit at its first await. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : T;

export function connectionOf(sqlite: Database, path: string): Connection {
  return { sqlite, orm: drizzle({ client: sqlite }), path };
}

/** Runs `body` between BEGIN IMMEDIATE and COMMIT; whatever it throws rolls everything back. */
export function transact<T>(connection: Connection, body: (tx: Tx) => Synchronous<T>): T {
  const { sqlite } = connection;
  sqlite.run("BEGIN IMMEDIATE");
  try {
    const result = body(connection as Tx);
    if (result instanceof Promise) throw new Error("a transaction must not be asynchronous");
    sqlite.run("COMMIT");
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after a full disk or an I/O error.
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    throw error;
  }
}

/** Runs `body` so that, if it throws, its writes alone are undone and the transaction goes on. Costs 0.1 µs. */
export function savepoint<T>(tx: Tx, body: () => Synchronous<T>): T {
  const { sqlite } = tx;
  sqlite.query("SAVEPOINT command").run();
  try {
    const result = body();
    sqlite.query("RELEASE command").run();
    return result;
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run("ROLLBACK TO command; RELEASE command");
    throw error;
  }
}

/** Writes a page that says what it said before. */
export function writePage(tx: Tx): void {
  tx.sqlite.run("PRAGMA user_version = 0");
}

/** Prepared statements, made once a connection and at first use. */
export function prepared<T>(prepare: (orm: BunSQLiteDatabase) => T): (connection: Connection) => T {
  const made = new WeakMap<BunSQLiteDatabase, T>();
  return ({ orm }) => {
    let statements = made.get(orm);
    if (!statements) made.set(orm, (statements = prepare(orm)));
    return statements;
  };
}

/** A disk or file that cannot be trusted any more. */
const FATAL = /^SQLITE_(IOERR|CORRUPT|NOTADB)/;
/** Nothing was written and a later try may succeed: no room (for the log's index too), or another process at it. */
const PASSING = /^SQLITE_(FULL|BUSY|LOCKED|IOERR_SHMSIZE)/;

export function isPassingTrouble(error: unknown): boolean {
  return PASSING.test(sqliteCodeOf(error));
}

export function isFatalTrouble(error: unknown): boolean {
  return FATAL.test(sqliteCodeOf(error)) && !isPassingTrouble(error);
}

function sqliteCodeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
