// The port's Tx on PostgreSQL. Reads the rows that were loaded for the batch, and writes to memory. The batch runs
// again from its start until nothing is missing. Only then are the writes sent.

import {
  PortError,
  refusePromise,
  type Synchronous,
  type Tx,
  type Values,
} from "../../port/port.ts";
import { names, type Query, type Statement } from "../../port/query.ts";
import {
  type AnyRow,
  type AnyTable,
  changedFields,
  completeRow,
  type Index,
  type Kinds,
  type Table,
  type Value,
} from "../../port/table-definition.ts";
import { mapLoaded, type LoadedRows, NotLoaded, type StatementRun } from "./loaded-rows.ts";

export interface Write {
  kind: "insert" | "update" | "delete";
  table: AnyTable;
  /** Null for an insert. */
  before: AnyRow | null;
  /** The row after the write; for a delete, the row that is deleted. */
  row: AnyRow;
  /** Changed fields of an update; empty otherwise. */
  fields: readonly string[];
}

/** Thrown through a command that must begin a batch, or run alone in one. */
export class BatchEnd extends Error {
  override name = "BatchEnd";
}

export interface BatchState {
  loaded: LoadedRows;
  /** Accounts locked by the transaction. */
  locks: ReadonlySet<number>;
  /** Numbers that the database has issued for new rows, by table. */
  numbers: ReadonlyMap<AnyTable, readonly number[]>;
  /** How many rows each statement changed, in order. Only a batch with one command has statements. */
  statementCounts: readonly number[];
}

/** The highest provisional number. Provisional numbers count down, in place of numbers that must still be fetched. */
const PROVISIONAL = Number.MAX_SAFE_INTEGER;

export class PostgresTx implements Tx {
  readonly writes: Write[] = [];
  readonly missingLocks = new Set<number>();
  /** Count of used numbers, by table. If it exceeds the fetched numbers, some are missing. */
  readonly usedNumbers = new Map<AnyTable, number>();
  statementToRun: StatementRun | null = null;
  /**
   * Accounts that this transaction creates. No other transaction sees them, so they need no lock. Their numbers may
   * differ in each round.
   */
  readonly #newAccounts = new Set<Value>();
  /** Index of the current command's first write. */
  #commandStart = 0;
  #statementsSeen = 0;
  readonly #tablesOfStatements = new Set<AnyTable>();

  constructor(
    readonly state: BatchState,
    /** Whether the batch has only one command. */
    readonly isOnlyCommand: boolean,
  ) {}

  row<Row, Key extends readonly Value[]>(index: Index<Row, Key>, ...key: Key): Row | undefined {
    return (this.#row(index as unknown as Index, key) ?? undefined) as Row | undefined;
  }

  all<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row[] {
    const untyped = query as unknown as Query;
    this.#beforeQuery(untyped, values[0] as AnyRow);
    return this.state.loaded.all(untyped, values[0] as AnyRow) as Row[];
  }

  one<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row | undefined {
    return this.all(query, ...values)[0];
  }

  spans(): never {
    throw new PortError("lists cannot be read in a transaction");
  }

  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
    return mapLoaded(items, body);
  }

  lock(account: number): void {
    if (this.state.locks.has(account) || this.#newAccounts.has(account)) return;
    this.missingLocks.add(account);
  }

  insert<Row, New extends object, Key extends string>(table: Table<Row, New, Key>, row: New): Row {
    const complete = completeRow(table, row);
    const { numberField } = table;
    if (numberField !== null && complete[numberField] === null)
      complete[numberField] = this.#number(table);
    if (table.name === "accounts") this.#newAccounts.add(complete["account"]!);
    this.#lock(table, complete, true);
    this.state.loaded.rows.add(table, complete, true);
    this.writes.push({ kind: "insert", table, before: null, row: complete, fields: [] });
    return complete as Row;
  }

  update<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
    changes: Partial<Row>,
  ): Row {
    const before = this.#existingRow(table, key as AnyRow);
    // Locks even if nothing changes: the command may have decided by an older version of the row.
    if (!Object.keys(changes).every((field) => table.unlocked.has(field)))
      this.#lock(table, before, false);
    const fields = changedFields(before, changes as AnyRow);
    if (fields.length === 0) return before as Row;
    const row: Record<string, Value> = { ...before };
    for (const field of fields) row[field] = (changes as AnyRow)[field]!;
    this.state.loaded.rows.replace(table, before, row, fields);
    this.writes.push({ kind: "update", table, before, row, fields });
    return row as Row;
  }

  delete<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
  ): void {
    const row = this.#existingRow(table, key as AnyRow);
    this.#lock(table, row, false);
    this.state.loaded.rows.remove(table, row);
    this.writes.push({ kind: "delete", table, before: row, row, fields: [] });
  }

  run<P extends Kinds>(statement: Statement<P>, ...values: Values<P>): number {
    if (this.writes.length > this.#commandStart) {
      throw new PortError(`a statement must come before other writes: ${statement.text.postgres}`);
    }
    if (!this.isOnlyCommand) throw new BatchEnd();
    const untyped = statement as unknown as Statement;
    const changed = this.state.statementCounts[this.#statementsSeen++];
    if (changed === undefined) {
      this.statementToRun = { statement: untyped, values: values[0] as AnyRow };
      throw new NotLoaded();
    }
    for (const table of untyped.writes) this.#tablesOfStatements.add(table);
    return changed;
  }

  attempt<T>(body: () => Synchronous<T>): { done: T } | { threw: unknown } {
    const mark = this.state.loaded.rows.mark();
    const { length } = this.writes;
    try {
      const done = body();
      refusePromise(done);
      return { done };
    } catch (error) {
      this.state.loaded.rows.undo(mark);
      this.writes.length = length;
      if (error instanceof NotLoaded || error instanceof BatchEnd) throw error;
      return { threw: error };
    }
  }

  /** Begins the next command of the batch. */
  nextCommand(): void {
    this.#commandStart = this.writes.length;
  }

  #row(index: Index, values: readonly Value[]): AnyRow | null {
    if (this.#tablesOfStatements.has(index.table)) {
      throw new PortError(
        `cannot read a row of ${index.table.name} after a statement wrote to the table`,
      );
    }
    return this.state.loaded.row(index, values);
  }

  #existingRow(table: AnyTable, key: AnyRow): AnyRow {
    const [primary] = table.indexes;
    const row = this.#row(
      primary!,
      table.key.map((field) => key[field]!),
    );
    if (row) return row;
    // The key may be from a list that was read without the lock, and another transaction may have deleted the row since.
    const account = table.lockAccount(key, false);
    if (typeof account === "number" && !this.state.locks.has(account)) {
      this.missingLocks.add(account);
      throw new NotLoaded();
    }
    throw new Error(`row not found in ${table.name}`);
  }

  #lock(table: AnyTable, row: AnyRow, isNew: boolean): void {
    const account = table.lockAccount(row, isNew);
    if (account !== null) this.lock(account);
  }

  #number(table: AnyTable): number {
    const used = this.usedNumbers.get(table) ?? 0;
    this.usedNumbers.set(table, used + 1);
    // Provisional numbers differ, so that two rows are not mistaken for one.
    return this.state.numbers.get(table)?.[used] ?? PROVISIONAL - used;
  }

  #beforeQuery(query: Query, values: AnyRow | undefined): void {
    for (let place = this.writes.length - 1; place >= 0; place -= 1) {
      const write = this.writes[place]!;
      if (!names(query, write.table)) continue;
      if (place >= this.#commandStart) {
        throw new PortError(
          `cannot query ${write.table.name} after the same command wrote to it: ${query.text.postgres}`,
        );
      }
      if (!isOutside(query, values, write)) throw new BatchEnd();
    }
    for (const table of this.#tablesOfStatements) {
      if (names(query, table)) {
        throw new PortError(`cannot query ${table.name} after a statement wrote to it`);
      }
    }
  }
}

/** Returns whether the query cannot read the written row. */
function isOutside(
  { restrictedBy }: Query,
  values: AnyRow | undefined,
  { before, row }: Write,
): boolean {
  return restrictedBy.some((field) => {
    if (!(field in row)) return false;
    const value = values![field];
    return row[field] !== value && (before === null || before[field] !== value);
  });
}
