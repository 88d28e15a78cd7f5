// The row port: the interface through which operations and reads use the database, on either engine. It is synchronous.
// An engine that must wait (db/postgres/) runs the same function again after loading the missing rows. So such a
// function must depend on nothing but the port: no clock, no state of its own.

import type { AnyRow, Index, Kind, Kinds, Table, Typed, Value } from "./table-definition.ts";
import type { Query, Statement } from "./query.ts";

export interface Reader {
  /** The row with this key in a unique index, including writes of the same transaction. Never change it in place. */
  row<Row, Key extends readonly Value[]>(index: Index<Row, Key>, ...key: Key): Row | undefined;
  /** All rows of a query. Does not see uncommitted writes of the same transaction (see Tx). */
  all<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row[];
  /** The first row of a query. */
  one<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row | undefined;
  /**
   * Ranges of row numbers that contain all of an account's rows with a time in the window, newest range first. They may
   * also contain rows with other times, which the list must filter out. `account` null: all accounts.
   */
  spans(table: TimedTable, account: number | null, window: TimeWindow): Span[];
  /** Like `items.map(body)`, but loads the rows for all items together instead of in one round trip each. */
  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[];
}

/** A table whose rows are listed by number and can be found by time. */
export type TimedTable = "orders" | "transfers";

/** A time window in milliseconds, both ends included. Null: no limit on that side. */
export interface TimeWindow {
  from: number | null;
  to: number | null;
}

/** Numbers from `first` to `last`, both included. */
export interface Span {
  first: number;
  last: number;
}

/** The arguments for a query's parameters: one object, or none for a query without parameters. */
export type Values<P extends Kinds> = keyof P extends never ? [] : [values: Typed<P>];

declare const writing: unique symbol;

/**
 * A transaction. Both engines enforce these rules, so that a command that passes on one works on the other:
 * - a query comes before the command's own writes to the tables that it names;
 * - a statement comes before every other write of its command;
 * - a command does not read what its own statement wrote.
 */
export interface Tx extends Reader {
  readonly [writing]?: true;
  /**
   * Locks an account: until the COMMIT no other transaction writes its rows. All reads of the command happen under the
   * lock. Writes take their table's lock (tables/) themselves, so only commands whose decisions depend on reads need
   * this.
   */
  lock(account: number): void;
  /** Returns the inserted row, with the number that the database gave it. */
  insert<Row, New extends object, Key extends string>(table: Table<Row, New, Key>, row: New): Row;
  /** Changes a row and returns it. `key` may be the row itself. Throws if the row does not exist. */
  update<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
    changes: Partial<Row>,
  ): Row;
  /** Deletes a row. Throws if the row does not exist. */
  delete<Row, New, Key extends string>(
    table: Table<Row, New, Key>,
    key: Pick<Row, Key & keyof Row>,
  ): void;
  /** Runs a write that affects many rows. Returns how many. */
  run<P extends Kinds>(statement: Statement<P>, ...values: Values<P>): number;
  /** Runs `body`. If it throws, only its own writes are undone. Errors that concern the whole batch are rethrown. */
  attempt<T>(body: () => Synchronous<T>): { done: T } | { threw: unknown };
}

/** Rejects asynchronous bodies at compile time: they would commit at their first await. */
export type Synchronous<T> = T extends PromiseLike<unknown> ? never : T;

/** A value that SQLite returns at once and PostgreSQL must wait for. */
export type Awaitable<T> = T | Promise<T>;

/** One command of a batch. */
export interface Job {
  run: (tx: Tx) => unknown;
  /** Rows and locks to load before the first run. They save round trips and do not change the result. */
  needs?: readonly Need[];
}

/** The result of a command: what it returned, or what it threw after its writes were undone. */
export type Outcome = { done: unknown } | { threw: unknown };

/** Something that a command will need: a lock, a row, or `count` new numbers of a table. */
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
  /** Runs reads on one consistent snapshot if the engine has one. May run `body` several times. */
  read<T>(body: (reader: Reader) => Synchronous<T>): Awaitable<T>;
}

/** A database that can be read and written: what an engine provides. */
export interface Store extends ReadStore {
  /** Runs commands in one transaction. Only a failed command is undone. Returns outcomes in order, after the COMMIT. */
  runBatch(jobs: readonly Job[]): Awaitable<Outcome[]>;
  close(): Awaitable<void>;
}

/** Runs one command in its own transaction. Throws what the command threw. */
export function transact<T>(store: Store, run: (tx: Tx) => Synchronous<T>): Awaitable<T> {
  return after(store.runBatch([{ run }]), ([outcome]) => {
    if ("threw" in outcome!) throw outcome.threw;
    return outcome!.done as T;
  });
}

/** Calls `then` with a value: at once, or after waiting if it is a promise. */
export function after<T, U>(value: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}

/** Thrown when nothing was written and a later try may succeed: a full disk, a lost connection, or a held lock. */
export class TransientError extends Error {
  override name = "TransientError";
}

/** Thrown when the database or its disk can no longer be trusted. The process must end. */
export class FatalError extends Error {
  override name = "FatalError";
}

/** Thrown when the connection was lost during the COMMIT, and no server could say whether it succeeded. */
export class OutcomeUnknownError extends Error {
  override name = "OutcomeUnknownError";
  readonly code = "outcome_unknown";

  /** Puts the code into the message, because the log shows only the message. */
  constructor(message: string, options?: ErrorOptions) {
    super(`outcome_unknown: ${message}`, options);
  }
}

/** Thrown when a row violates a unique index. Within a batch this is found before the database reports it. */
export class UniqueError extends Error {
  override name = "UniqueError";
}

/** Thrown when a command breaks the rules of Tx. */
export class PortError extends Error {
  override name = "PortError";
}

export function refusePromise(result: unknown): void {
  if (result instanceof Promise) throw new PortError("a transaction must not be asynchronous");
}

export type { AnyRow, Kind };
