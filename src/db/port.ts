// The row port: what operations and reads know of the database, whatever engine is behind it. All of it is
// synchronous. An engine that must wait (db/postgres/) runs the same function again once it has what was missing, so
// a body must do nothing but read and write through the port: no clock, no state of its own.

import type { AnyRow, Index, Kind, Kinds, Table, Typed, Value } from "./table-definition.ts";
import type { Query, Statement } from "./query.ts";

export interface Reader {
  /** The row that a unique index leads to. Sees what the same transaction wrote. Never to be changed in place. */
  row<Row, Key extends readonly Value[]>(index: Index<Row, Key>, ...key: Key): Row | undefined;
  /** All rows of a query. Of what a transaction wrote it sees nothing: see Tx. */
  all<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row[];
  /** The first row of a query. */
  one<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row | undefined;
  /**
   * Ranges of row numbers that hold all of an account's rows with a time in the window, the newest range first. They may
   * hold rows with other times too: a list filters those out. Null: of every account.
   */
  spans(ledger: Ledger, account: number | null, window: TimeWindow): Span[];
  /** `items.map(body)`: rows and queries that several items need are loaded together, not in one round trip each. */
  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[];
}

/** A table whose rows are listed by number and found by time. */
export type Ledger = "orders" | "transfers";

/** Both ends included; null is open. Milliseconds. */
export interface TimeWindow {
  from: number | null;
  to: number | null;
}

/** Numbers from `first` to `last`, both included. */
export interface Span {
  first: number;
  last: number;
}

/** Nothing for a query without parameters. */
export type Values<P extends Kinds> = keyof P extends never ? [] : [values: Typed<P>];

declare const writing: unique symbol;

/**
 * A transaction. The rules that both engines hold, so that what passes on one works on the other:
 * - a query comes before the command's own writes to the tables that it names;
 * - a statement comes before every other write of its command;
 * - what a statement wrote is not read after it by its command.
 */
export interface Tx extends Reader {
  readonly [writing]?: true;
  /**
   * No other transaction writes what belongs to the account until the COMMIT; all that the command reads is read under
   * the lock. Writes take the lock of their table (tables.ts) by themselves: this is for a command that decides by reads.
   */
  lock(account: number): void;
  /** Returns the row as it is in the table, with the number that the database gave it. */
  insert<Row, New extends object, Key extends string>(table: Table<Row, New, Key>, row: New): Row;
  /** `key` may be the row itself. Returns the row as it is now. Throws when there is none. */
  update<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
    changes: Partial<Row>,
  ): Row;
  /** Throws when there is none. */
  delete<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
  ): void;
  /** A write over many rows at once. Returns how many. */
  run<P extends Kinds>(statement: Statement<P>, ...values: Values<P>): number;
  /** Runs `body` so that, if it throws, its writes alone are undone. Errors that concern the whole batch go through. */
  attempt<T>(body: () => Synchronous<T>): { done: T } | { threw: unknown };
}

/** Refuses at compile time what would commit at its first await. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : T;

/** What one engine has at once (SQLite) and another must wait for. */
export type Awaitable<T> = T | Promise<T>;

/** One command of a batch. */
export interface Job {
  run: (tx: Tx) => unknown;
  /** Loaded before the first run. It saves round trips and changes no result. */
  needs?: readonly Need[];
}

/** What became of a command: it returned, or threw and left nothing behind. */
export type Outcome = { done: unknown } | { threw: unknown };

/** What a command will need: a lock, a row, so many numbers of a table. */
export type Need =
  | { lock: number }
  | { index: Index; key: readonly Value[] }
  | { table: Table<object, object, string>; count: number };

export const needLock = (account: number): Need => ({ lock: account });

export function needRow<Row, Key extends readonly Value[]>(
  index: Index<Row, Key>,
  ...key: Key
): Need {
  return { index: index as unknown as Index, key };
}

export function needNumbers<Row, New, Key extends string>(
  table: Table<Row, New, Key>,
  count = 1,
): Need {
  return { table: table as unknown as Table<object, object, string>, count };
}

/** A database that can be read. */
export interface ReadStore {
  /** Runs reads on one unchanging view where the engine has one; may run `body` several times. */
  read<T>(body: (reader: Reader) => Synchronous<T>): Awaitable<T>;
}

/** A database with an engine behind it. */
export interface Store extends ReadStore {
  /** Runs commands in one transaction, each undone alone. Outcomes in their order; none before the COMMIT. */
  runBatch(jobs: readonly Job[]): Awaitable<Outcome[]>;
  close(): Awaitable<void>;
}

/** One command in a transaction of its own. */
export function transact<T>(store: Store, run: (tx: Tx) => Synchronous<T>): Awaitable<T> {
  return after(store.runBatch([{ run }]), ([outcome]) => {
    if ("threw" in outcome!) throw outcome.threw;
    return outcome!.done as T;
  });
}

/** Goes on with a value that may have to be waited for; at once where it is there. */
export function after<T, U>(value: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}

/** Nothing was written and a later try may succeed: no disk space, no connection, a lock that another process holds. */
export class TransientError extends Error {
  override name = "TransientError";
}

/** The database or its disk cannot be trusted any more: the process must end. */
export class FatalError extends Error {
  override name = "FatalError";
}

/** The connection was lost in the COMMIT, and no server could be asked whether it was made. */
export class OutcomeUnknownError extends Error {
  override name = "OutcomeUnknownError";
  readonly code = "outcome_unknown";

  /** The log has the message alone: the code is a part of it. */
  constructor(message: string, options?: ErrorOptions) {
    super(`outcome_unknown: ${message}`, options);
  }
}

/** A row breaks a unique index: within a batch found before the database does. */
export class UniqueError extends Error {
  override name = "UniqueError";
}

/** A command that breaks the rules of Tx. */
export class PortError extends Error {
  override name = "PortError";
}

export function refusePromise(result: unknown): void {
  if (result instanceof Promise) throw new PortError("a transaction must not be asynchronous");
}

export type { AnyRow, Kind };
