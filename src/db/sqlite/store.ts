// The row port on one SQLite connection. Reads run immediately, commands in batches between BEGIN IMMEDIATE and COMMIT.
// The writer limits orders, so what is written by hand here has its gain beside it; what gains less than 3 % goes. In user
// instructions an order: CHECKs without long IN lists 264k to 193k, INSERTs without RETURNING and look-ups instead of a
// join 193k to 138k. Reads of one turn share a transaction, for a millisecond at most: `GET /balance` 75k to 59k. Tried
// without gain: other page sizes, SQLITE_OPEN_NOMUTEX, a larger page cache, mapping the database; mapping the index of the
// write-ahead log is unsafe, because closing that file drops SQLite's locks.

import type { Database } from "bun:sqlite";
import {
  FatalError,
  type Job,
  type TimedTable,
  type Outcome,
  type Reader,
  type Span,
  type Store,
  type Synchronous,
  type TimeWindow,
  TransientError,
  type Values,
} from "../port/port.ts";
import type { Query } from "../port/query.ts";
import { RowMap } from "../port/row-map.ts";
import {
  type AnyRow,
  type Index,
  keyOf,
  type Kinds,
  type Value,
} from "../port/table-definition.ts";
import { isFatalError, isTransientError } from "./errors.ts";
import { Statements } from "./prepared.ts";
import { SavepointNeeded, SqliteTx } from "./write-transaction.ts";

export interface SqliteStore extends Store {
  readonly sqlite: Database;
  /** Reads in the open transaction. Without one, each read sees everything that is committed when it runs. */
  readonly reader: Reader;
  read<T>(body: (reader: Reader) => Synchronous<T>): T;
  /** Throws TransientError or FatalError if nothing of the batch could be written. */
  runBatch(jobs: readonly Job[]): Outcome[];
  close(): void;
}

class SqliteReader implements Reader {
  constructor(readonly statements: Statements) {}

  row<Row, Key extends readonly Value[]>(index: Index<Row, Key>, ...key: Key): Row | undefined {
    const any = index as unknown as Index;
    if (keyOf(any, key) === null) return undefined;
    return (this.statements.find(any, key) ?? undefined) as Row | undefined;
  }

  all<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row[] {
    return this.statements.all(query as unknown as Query, values[0] as AnyRow) as Row[];
  }

  one<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row | undefined {
    return this.statements.one(query as unknown as Query, values[0] as AnyRow) as Row | undefined;
  }

  /** Returns the spans of all accounts' rows: here numbers follow the clock. */
  spans(table: TimedTable, _account: number | null, window: TimeWindow): Span[] {
    return this.statements.timeSpans.within(table, window);
  }

  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
    return items.map(body);
  }
}

/** Limit for the rows kept for each index; about 10 MB in total. */
const KEPT_ROWS_LIMIT = 10_000;

/**
 * Creates a store on a connection that the caller opened; the store closes it. `keepRows`: rows of cacheable tables
 * stay in memory from batch to batch while no other connection writes. With `keepRows`, only the store may write on
 * this connection.
 */
export function createSqliteStore(sqlite: Database, keepRows = false): SqliteStore {
  const statements = new Statements(sqlite);
  const rows = new RowMap(true);
  const dataVersion = sqlite.prepare<{ data_version: number }, []>("PRAGMA data_version");
  let knownVersion: number | null = null;
  const reader = new SqliteReader(statements);
  const begin = sqlite.prepare("BEGIN");
  const beginImmediate = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");

  /** Forgets rows that may have changed since the last transaction. Called in a transaction. */
  const refreshRows = () => {
    if (!keepRows) return rows.clear();
    // The version changes when another connection has committed, not after commits of this one.
    const version = dataVersion.get()!.data_version;
    if (version === knownVersion) rows.keep(KEPT_ROWS_LIMIT);
    else {
      rows.clear();
      statements.forgetNumbers();
    }
    knownVersion = version;
  };

  const inTransaction = (jobs: readonly Job[], savepoints: boolean): Outcome[] => {
    beginImmediate.run();
    try {
      refreshRows();
      const tx = new SqliteTx(sqlite, statements, rows);
      const outcomes = jobs.map(({ run }) => tx.command(run, savepoints));
      tx.flush();
      commit.run();
      return outcomes;
    } catch (error) {
      rows.clear();
      // After a full disk or an I/O error SQLite itself has already rolled back.
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      throw error;
    }
  };

  /**
   * Runs one command. Earlier commands are already committed, so an error of this one must not be reported for them.
   */
  const runOne = (job: Job): Outcome => {
    try {
      return store.runBatch([job])[0]!;
    } catch (error) {
      if (error instanceof TransientError) return { threw: error };
      throw error;
    }
  };

  const store: SqliteStore = {
    sqlite,
    reader,
    read(body) {
      if (sqlite.inTransaction) return body(reader);
      begin.run();
      try {
        return body(reader);
      } finally {
        if (sqlite.inTransaction) commit.run();
      }
    },
    runBatch(jobs) {
      try {
        try {
          return inTransaction(jobs, false);
        } catch (error) {
          // An internal error, because operations refuse before they write. It is rare, so the whole batch may run
          // again.
          if (!(error instanceof SavepointNeeded)) throw error;
          return inTransaction(jobs, true);
        }
      } catch (error) {
        if (isTransientError(error)) throw new TransientError(String(error), { cause: error });
        if (isFatalError(error)) throw new FatalError(textOf(error), { cause: error });
        // A coalesced update violates a constraint. Running each command by itself shows which one failed.
        if (jobs.length === 1) return [{ threw: error }];
        return jobs.map((job) => runOne(job));
      }
    },
    close: () => sqlite.close(),
  };
  return store;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
