// The port on one SQLite connection: reads at once, commands in batches between BEGIN IMMEDIATE and COMMIT.

import type { Database } from "bun:sqlite";
import {
  FatalError,
  type Job,
  type Ledger,
  type Outcome,
  type Reader,
  type Span,
  type Store,
  type Synchronous,
  type TimeWindow,
  TransientError,
  type Values,
} from "../port.ts";
import type { Query } from "../query.ts";
import { RowMap } from "../row-map.ts";
import { type AnyRow, type Index, keyOf, type Kinds, type Value } from "../table-definition.ts";
import { isFatalError, isTransientError } from "./errors.ts";
import { Statements } from "./prepared.ts";
import { SavepointNeeded, SqliteTx } from "./write-transaction.ts";

export interface SqliteStore extends Store {
  readonly sqlite: Database;
  /** For reads in a transaction that is open already, or in none: then each sees what is committed by then. */
  readonly reader: Reader;
  read<T>(body: (reader: Reader) => Synchronous<T>): T;
  /** Throws when nothing of the batch could be written: TransientError or FatalError. */
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

  /** Of all accounts' rows: numbers follow the clock here. */
  spans(ledger: Ledger, _account: number | null, window: TimeWindow): Span[] {
    return this.statements.timeSpans.within(ledger, window);
  }

  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
    return items.map(body);
  }
}

/** Rows of an index that are kept: some 10 MB in all. */
const KEPT_LIMIT = 10_000;

/**
 * The connection is the caller's to open; the store closes it. `keepRows`: rows of the tables that most commands read stay
 * in memory from batch to batch while no other connection writes. Then nothing but the store may write on this one.
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

  /** Within a transaction: forgets what may have changed since the last one. */
  const refreshRows = () => {
    if (!keepRows) return rows.clear();
    // Differs when another connection has committed, not after this one's own commits.
    const version = dataVersion.get()!.data_version;
    if (version === knownVersion) rows.keep(KEPT_LIMIT);
    else rows.clear();
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
      // SQLite has rolled back by itself after a full disk or an I/O error.
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      throw error;
    }
  };

  /** Earlier commands are committed by then: an error of this one must not be reported for them. */
  const alone = (job: Job): Outcome => {
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
          // An internal error, since operations refuse before they write: so rare that the whole batch may run again.
          if (!(error instanceof SavepointNeeded)) throw error;
          return inTransaction(jobs, true);
        }
      } catch (error) {
        if (isTransientError(error)) throw new TransientError(String(error), { cause: error });
        if (isFatalError(error)) throw new FatalError(textOf(error), { cause: error });
        // A coalesced update violates a constraint: only by running each command alone is it known which one's.
        if (jobs.length === 1) return [{ threw: error }];
        return jobs.map((job) => alone(job));
      }
    },
    close: () => sqlite.close(),
  };
  return store;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
