// Copies a whole database from one engine to the other: docs/specification/storage.md#move. During the move nothing
// else writes to either database. The target is written in one transaction, read back, compared row by row, and
// verified before it is committed.

import { type Awaitable, type Reader, type ReadStore } from "../../db/port/port.ts";
import { NUMBERED_TABLES } from "../../db/ledger/number-floors.ts";
import { type Query, query, select } from "../../db/port/query.ts";
import { type AnyRow, type AnyTable, number } from "../../db/port/table-definition.ts";
import { inspections, portalSignIns } from "../../db/tables/members.ts";
import { panelSignIns } from "../../db/tables/administrators.ts";
import { catalogueVersion } from "../../db/tables/catalogue.ts";
import { servers, uptime } from "../../db/tables/database.ts";
import { accounts } from "../../db/tables/ledger.ts";
import { providers } from "../../db/tables/providers.ts";
import { invoiceSettings } from "../../db/tables/invoices.ts";
import { mailSettings } from "../../db/tables/mails.ts";
import { dailyTotals, hourlySpend, moneyTotals, totalsPosition } from "../../db/tables/reports.ts";
import { keys, users } from "../../db/tables/users.ts";
import { TABLES } from "../../db/tables/tables.ts";
import type { Problem, Verification } from "../../db/verify/verify.ts";
import { SALES_ACCOUNT } from "../../domain/ledger/ledger.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { counted } from "../../domain/values/text.ts";

/** Thrown when a database cannot be moved. The message is one sentence for the operator. */
export class MoveError extends Error {
  override name = "MoveError";
}

/** The highest issued number of each table. */
export type IssuedNumbers = ReadonlyMap<AnyTable, number>;

/** A database whose writers are kept out for as long as it is open. */
export interface MoveSide {
  /** For messages: the path, or the address without user and password. */
  displayName: string;
  store: ReadStore;
  readNumbers(): Awaitable<IssuedNumbers>;
  verify(progress: (done: number, total: number) => void): Promise<Verification>;
  /** Closes the database and rolls back what was not committed. */
  close(): Awaitable<void>;
}

export interface MoveTarget extends MoveSide {
  insert(table: AnyTable, rows: readonly AnyRow[]): Awaitable<void>;
  /** Writes some fields of existing rows. */
  update(table: AnyTable, fields: readonly string[], rows: readonly AnyRow[]): Awaitable<void>;
  /** Ensures that no number up to these is issued again. */
  setNumbers(numbers: IssuedNumbers): Awaitable<void>;
  /** Writes what the engine derives from the rows, after all are written and before they are read back. */
  finishRows(): Awaitable<void>;
  commit(): Awaitable<void>;
}

export interface Moved {
  users: number;
  orders: number;
  transfers: number;
  rows: number;
  balanceMicros: bigint;
  numbers: IssuedNumbers;
  /** The problems that `verify` finds in the source, and so in the target; empty unless they were accepted. */
  problems: readonly Problem[];
}

export type MoveProgress = (what: string, done: number, total: number) => void;

/** Number of rows read and written at once. Few, because some rows hold a whole response. */
const PIECE_ROWS = 500;
/**
 * Tables whose rows are not copied. Rows about server processes are of no use at the target. Administrators must sign in
 * again there. Totals of reports are counted again from their source rows. The target has a row of settings already.
 */
const NOT_COPIED: readonly AnyTable[] = [
  servers,
  uptime,
  invoiceSettings,
  mailSettings,
  panelSignIns.sessions,
  portalSignIns.sessions,
  inspections,
  dailyTotals,
  hourlySpend,
  moneyTotals,
  totalsPosition,
];
const COPIED_TABLES = TABLES.filter((table) => !NOT_COPIED.includes(table));
/** Fields of a key that refer to another key. */
const KEY_REFERENCES = ["replacedBy", "originId"];
/** Tables with one row, which the migrations created. */
const SINGLETONS: readonly AnyTable[] = [uptime, catalogueVersion, invoiceSettings, mailSettings];
/** Returns whether the migrations created a row: cash, sales, and the sandbox. */
const isMade = (table: AnyTable, row: AnyRow): boolean =>
  (table === accounts && Number(row["account"]) <= SALES_ACCOUNT) ||
  (table === providers && row["providerId"] === SANDBOX_PROVIDER);

/** Moves the source to the target. Throws MoveError after changing nothing. */
export async function move(
  source: MoveSide,
  target: MoveTarget,
  progress: MoveProgress,
  acceptsUnverified = false,
): Promise<Moved> {
  await target.store.read((reader) => refuseRows(reader, target.displayName));
  const problems = await problemsOf(source, progress);
  if (!acceptsUnverified) refuseProblems(source, problems);
  const total = await countAll(source.store);
  await copyRows(source, target, (done) => progress("rows copied:", done, total));
  await copySingletons(source, target);
  const numbers = await source.readNumbers();
  await target.setNumbers(numbers);
  await target.finishRows();
  const moved = await compareRows(source, target, (done) =>
    progress("rows compared:", done, total),
  );
  await compareNumbers(numbers, target);
  const isNew = (problem: Problem) => !problems.some((known) => isSame(known, problem));
  refuseProblems(target, (await problemsOf(target, progress)).filter(isNew));
  await target.commit();
  return { ...moved, numbers, problems };
}

/** Throws MoveError if the target has rows of its own. */
export function refuseRows(reader: Reader, displayName: string): void {
  for (const { table, first, count } of EMPTY_CHECKS) {
    if (reader.all(first, { limit: PIECE_ROWS }).every((row) => isMade(table, row))) continue;
    const { rows } = reader.one(count)!;
    throw new MoveError(
      `${displayName} is not empty (${table.name}: ${counted(rows, "row")}): choose an empty database`,
    );
  }
}

/** Returns the problems that `verify` lists, which are the first of each check. */
async function problemsOf(side: MoveSide, progress: MoveProgress): Promise<readonly Problem[]> {
  const { problems } = await side.verify((done, total) =>
    progress(`verifying ${side.displayName}:`, done, total),
  );
  return problems;
}

function refuseProblems({ displayName }: MoveSide, problems: readonly Problem[]): void {
  const [first] = problems;
  if (!first) return;
  throw new MoveError(
    `${displayName} does not add up (${counted(problems.length, "problem")}, ${first.subject}: ${first.problem}): nothing was moved; run \`reseller verify\`, or move it unverified with --unverified`,
  );
}

function isSame(one: Problem, other: Problem): boolean {
  return (
    one.check === other.check && one.subject === other.subject && one.problem === other.problem
  );
}

async function copyRows(
  source: MoveSide,
  target: MoveTarget,
  progress: (done: number) => void,
): Promise<void> {
  let done = 0;
  for (const table of COPIED_TABLES) {
    for await (const rows of piecesOf(source.store, table)) {
      await insertRows(target, table, rows);
      progress((done += rows.length));
    }
    if (table !== keys) continue;
    // A key may refer to one that is copied later, so these references are written at the end.
    for await (const rows of piecesOf(source.store, keys)) {
      const rotated = rows.filter((row) => KEY_REFERENCES.some((field) => row[field] !== null));
      if (rotated.length > 0) await target.update(keys, KEY_REFERENCES, rotated);
    }
  }
}

async function insertRows(
  target: MoveTarget,
  table: AnyTable,
  rows: readonly AnyRow[],
): Promise<void> {
  let inserted = rows.filter((row) => !isMade(table, row));
  if (table === keys) {
    const none = Object.fromEntries(KEY_REFERENCES.map((field) => [field, null]));
    inserted = inserted.map((row) => ({ ...row, ...none }));
  }
  if (inserted.length > 0) await target.insert(table, inserted);
}

async function copySingletons(source: MoveSide, target: MoveTarget): Promise<void> {
  for (const table of SINGLETONS) {
    const first = firstPiece(table);
    const read = (reader: Reader) => reader.all(first, { limit: 1 })[0]!;
    const row = await source.store.read(read);
    const present = await target.store.read(read);
    if (table === uptime && Number(present["milliseconds"]) > Number(row["milliseconds"])) {
      throw new MoveError(
        `${target.displayName} has been in service longer than ${source.displayName}: choose a database that was never in service`,
      );
    }
    const fields = table.columns
      .map(({ field }) => field)
      .filter((field) => !table.key.includes(field));
    await target.update(table, fields, [row]);
  }
}

/** Reads the target back and compares every row. */
async function compareRows(
  source: MoveSide,
  target: MoveTarget,
  progress: (done: number) => void,
): Promise<Omit<Moved, "numbers" | "problems">> {
  const counts = new Map<AnyTable, number>();
  let rows = 0;
  let balanceMicros = 0n;
  for (const table of [...COPIED_TABLES, ...SINGLETONS]) {
    const copies = rowsOf(target.store, table);
    let count = 0;
    for await (const row of rowsOf(source.store, table)) {
      const copy = await copies.next();
      const field = table.columns.find(
        (each) => copy.done || copy.value[each.field] !== row[each.field],
      );
      if (field) throw differs(target, table, row, field.field);
      // Excludes test money.
      if (table === users && row["testOf"] === null)
        balanceMicros += row["balanceMicros"] as bigint;
      count += 1;
      if (++rows % PIECE_ROWS === 0) progress(rows);
    }
    if (!(await copies.next()).done)
      throw new MoveError(`${target.displayName} has more ${table.name}`);
    counts.set(table, count);
  }
  const of = (name: string) => counts.get(TABLES.find((table) => table.name === name)!)!;
  return {
    users: of("users"),
    orders: of("orders"),
    transfers: of("transfers"),
    rows,
    balanceMicros,
  };
}

function differs(
  { displayName }: MoveSide,
  table: AnyTable,
  row: AnyRow,
  field: string,
): MoveError {
  const key = table.key.map((each) => String(row[each])).join(" ");
  return new MoveError(
    `${displayName} does not hold an exact copy of ${table.name} ${key} (${field} differs): nothing was moved`,
  );
}

/**
 * Compares the numbers that callers or operators know, which must never be issued again. In other tables a number may
 * be issued again if its row is gone: PostgreSQL's sequences leave gaps at the end, which SQLite fills.
 */
async function compareNumbers(numbers: IssuedNumbers, target: MoveTarget): Promise<void> {
  const found = await target.readNumbers();
  for (const [table, given] of numbers) {
    const isKnown = NUMBERED_TABLES.some((name) => name === table.name);
    if (!isKnown || (found.get(table) ?? 0) >= given) continue;
    throw new MoveError(`${target.displayName} would issue numbers of ${table.name} again`);
  }
}

async function countAll(store: ReadStore): Promise<number> {
  let rows = 0;
  for (const table of COPIED_TABLES) rows += await countRows(store, table);
  return rows;
}

async function countRows(store: ReadStore, table: AnyTable): Promise<number> {
  const count = countOf(table);
  return (await store.read((reader) => reader.one(count)))!.rows;
}

function countOf({ name }: AnyTable) {
  return query({ columns: { rows: number }, text: `SELECT count(*) AS rows FROM ${name}` });
}

async function* rowsOf(store: ReadStore, table: AnyTable): AsyncGenerator<AnyRow, undefined> {
  for await (const rows of piecesOf(store, table)) yield* rows;
}

/** Yields all rows in the order of their keys, which is the same on both engines: by number, or by byte. */
async function* piecesOf(store: ReadStore, table: AnyTable): AsyncGenerator<AnyRow[], undefined> {
  const first = firstPiece(table);
  const next = nextPiece(table);
  let rows = await store.read((reader) => reader.all(first, { limit: PIECE_ROWS }));
  while (rows.length > 0) {
    yield rows;
    if (rows.length < PIECE_ROWS) return;
    const last = rows.at(-1)!;
    const after = Object.fromEntries(table.key.map((field) => [field, last[field]!]));
    rows = await store.read((reader) => reader.all(next, { ...after, limit: PIECE_ROWS }));
  }
}

type PieceQuery = Query<AnyRow, Record<string, typeof number>>;

function firstPiece(table: AnyTable): PieceQuery {
  return pieceQuery(table, "", {});
}

function nextPiece(table: AnyTable): PieceQuery {
  const columns = keyColumns(table);
  const names = columns.map(({ name }) => name).join();
  const values = columns.map(({ field }) => `:${field}`).join();
  const parameters = Object.fromEntries(columns.map(({ field, kind }) => [field, kind]));
  return pieceQuery(table, `WHERE (${names}) > (${values})`, parameters);
}

function pieceQuery(table: AnyTable, where: string, parameters: object): PieceQuery {
  const order = keyColumns(table)
    .map(({ name }) => name)
    .join();
  return query({
    parameters: { ...parameters, limit: number } as Record<string, typeof number>,
    columns: Object.fromEntries(table.columns.map(({ field, kind }) => [field, kind])),
    text: `SELECT ${select(table)} FROM ${table.name} ${where} ORDER BY ${order} LIMIT :limit`,
  }) as unknown as PieceQuery;
}

function keyColumns({ key, columns }: AnyTable) {
  return key.map((field) => columns.find((column) => column.field === field)!);
}

/**
 * Queries that show whether a target is empty. They are at the end of the file, because they need the functions above.
 */
const EMPTY_CHECKS = COPIED_TABLES.map((table) => ({
  table,
  first: firstPiece(table),
  count: countOf(table),
}));
