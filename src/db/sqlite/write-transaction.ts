// The port's Tx on SQLite. Writes go to the database immediately, except those to coalesced tables: a user's balance is
// written once for each batch. Rows that were read stay valid until the COMMIT, because there is only one writer.

import type { Database } from "bun:sqlite";
import {
  type Outcome,
  PortError,
  refusePromise,
  type Synchronous,
  type Tx,
  type Values,
} from "../port/port.ts";
import { names, type Query, type Statement } from "../port/query.ts";
import { RowMap } from "../port/row-map.ts";
import {
  type AnyRow,
  type AnyTable,
  changedFields,
  completeRow,
  type Index,
  keyOf,
  keyOfRow,
  type Kinds,
  type Table,
  type Value,
} from "../port/table-definition.ts";
import { isDatabaseError } from "./errors.ts";
import type { Statements } from "./prepared.ts";

/** The rows with updates that are not written yet: each as it is in the database, by its key. */
type Pending = Map<string | number, AnyRow>;

/** Thrown when a failed command cannot be undone without a savepoint. */
export class SavepointNeeded extends Error {
  override name = "SavepointNeeded";
}

export class SqliteTx implements Tx {
  readonly #pending = new Map<AnyTable, Pending>();
  /** Tables that the current command wrote, in order. */
  #writtenTables: AnyTable[] = [];
  /** Tables of the statements that the current command ran; null if it ran none. */
  #tablesOfStatements: Set<AnyTable> | null = null;
  #depth = 0;

  readonly #rows: RowMap;

  /** `rows` holds rows that are already known. */
  constructor(
    readonly sqlite: Database,
    readonly statements: Statements,
    rows: RowMap,
  ) {
    this.#rows = rows;
    rows.isJournaled = false;
    statements.clockSteps.forget();
  }

  row<Row, Key extends readonly Value[]>(index: Index<Row, Key>, ...key: Key): Row | undefined {
    return (this.#row(index as unknown as Index, key) ?? undefined) as Row | undefined;
  }

  all<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row[] {
    this.#beforeQuery(query as unknown as Query);
    return this.statements.all(query as unknown as Query, values[0] as AnyRow) as Row[];
  }

  one<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row | undefined {
    this.#beforeQuery(query as unknown as Query);
    return this.statements.one(query as unknown as Query, values[0] as AnyRow) as Row | undefined;
  }

  spans(): never {
    throw new PortError("lists cannot be read in a transaction");
  }

  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
    return items.map(body);
  }

  /** Does nothing: BEGIN IMMEDIATE has locked the whole database. */
  lock(_account: number): void {}

  insert<Row, New extends object, Key extends string>(table: Table<Row, New, Key>, row: New): Row {
    const complete = completeRow(table, row);
    const number = this.statements.insert(table, complete);
    this.statements.clockSteps.note(table, number, complete);
    this.#writtenTables.push(table);
    if (table.numberField !== null) complete[table.numberField] = number;
    this.#rows.add(table, complete, false);
    return complete as Row;
  }

  update<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
    changes: Partial<Row>,
  ): Row {
    const before = this.#existingRow(table, key as AnyRow);
    const changed = changedFields(before, changes as AnyRow);
    if (changed.length === 0) return before as Row;
    const row = { ...before };
    for (const field of changed) row[field] = (changes as AnyRow)[field]!;
    if (table.coalesced) this.#defer(table, before);
    else this.statements.update(table, row, changed);
    this.#writtenTables.push(table);
    this.#rows.replace(table, before, row, changed);
    return row as Row;
  }

  delete<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
  ): void {
    const row = this.#existingRow(table, key as AnyRow);
    this.statements.delete(table, row);
    this.#writtenTables.push(table);
    this.#rows.remove(table, row);
  }

  run<P extends Kinds>(statement: Statement<P>, ...values: Values<P>): number {
    if (this.#writtenTables.length > 0) {
      throw new PortError(`a statement must come before other writes: ${statement.text.sqlite}`);
    }
    this.flush();
    this.#rows.forget(statement.writes);
    this.#tablesOfStatements ??= new Set();
    for (const table of statement.writes) this.#tablesOfStatements.add(table);
    return this.statements.run(statement as unknown as Statement, values[0] as AnyRow);
  }

  attempt<T>(body: () => Synchronous<T>): { done: T } | { threw: unknown } {
    // Writes pending updates of earlier bodies first, because they must not be undone with this one.
    this.flush();
    this.#rows.isJournaled = true;
    const mark = this.#rows.mark();
    const written = this.#writtenTables.length;
    const { begin, release, undo } = this.statements.savepoint(this.#depth++);
    begin.run();
    try {
      const done = body();
      refusePromise(done);
      release.run();
      return { done };
    } catch (error) {
      this.#rows.undo(mark);
      this.statements.clockSteps.forget();
      // Drops all pending updates: they are the body's, because nothing was pending when it began.
      for (const pending of this.#pending.values()) pending.clear();
      this.#writtenTables.length = written;
      // The transaction is gone or cannot be committed: the whole batch fails.
      if (!this.sqlite.inTransaction || isDatabaseError(error)) throw error;
      undo.run();
      release.run();
      return { threw: error };
    } finally {
      this.#depth -= 1;
      if (this.#depth === 0) this.#rows.isJournaled = false;
    }
  }

  /**
   * Runs a command of a batch, without a savepoint, which would copy every page that the command touches. A command
   * that throws after a write cannot be undone: the batch must run again with `savepoints`.
   */
  command(run: (tx: Tx) => unknown, savepoints: boolean): Outcome {
    this.#writtenTables = [];
    this.#tablesOfStatements = null;
    if (savepoints) return this.attempt(() => run(this) as object);
    try {
      const done = run(this);
      refusePromise(done);
      return { done };
    } catch (error) {
      if (!this.sqlite.inTransaction || isDatabaseError(error)) throw error;
      if (this.#writtenTables.length > 0 || this.#tablesOfStatements) throw new SavepointNeeded();
      return { threw: error };
    }
  }

  /** Writes the pending coalesced updates. */
  flush(): void {
    for (const [table, pending] of this.#pending) {
      const [primary] = table.indexes;
      for (const [key, before] of pending) {
        const row = this.#rows.find(primary!, key)!;
        const changed = changedFields(before, row);
        if (changed.length > 0) this.statements.update(table, row, changed);
      }
      pending.clear();
    }
  }

  #row(index: Index, values: readonly Value[]): AnyRow | null {
    if (this.#tablesOfStatements?.has(index.table)) {
      throw new PortError(
        `cannot read a row of ${index.table.name} after a statement wrote to the table`,
      );
    }
    const key = keyOf(index, values);
    if (key === null) return null;
    const cachedRow = this.#rows.find(index, key);
    if (cachedRow !== undefined) return cachedRow;
    return this.#rows.load(index, key, this.statements.find(index, values));
  }

  #existingRow(table: AnyTable, key: AnyRow): Record<string, Value> {
    const [primary] = table.indexes;
    const row = this.#row(
      primary!,
      table.key.map((field) => key[field]!),
    );
    if (!row) throw new Error(`row not found in ${table.name}`);
    return row;
  }

  #defer(table: AnyTable, before: AnyRow): void {
    let pending = this.#pending.get(table);
    if (!pending) this.#pending.set(table, (pending = new Map()));
    const key = keyOfRow(table.indexes[0]!, before)!;
    if (!pending.has(key)) pending.set(key, before);
  }

  #beforeQuery(query: Query): void {
    const own = this.#writtenTables.find((table) => names(query, table));
    if (own) {
      throw new PortError(
        `cannot query ${own.name} after the same command wrote to it: ${query.text.sqlite}`,
      );
    }
    for (const table of this.#tablesOfStatements ?? []) {
      if (names(query, table)) {
        throw new PortError(`cannot query ${table.name} after a statement wrote to it`);
      }
    }
    this.flush();
  }
}
