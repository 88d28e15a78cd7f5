// Copies a whole database to one of the other engine: docs/specification.md#move. Nobody writes to either meanwhile; the
// target is written in one transaction, read back and compared row by row, and verified, before that is committed.

import { type Awaitable, type Reader, type ReadStore } from "../db/port.ts";
import { type Query, query, select } from "../db/query.ts";
import { type AnyRow, type AnyTable, number } from "../db/table-definition.ts";
import {
  accounts,
  catalogueVersion,
  dailyTotals,
  keys,
  providers,
  panelSessions,
  servers,
  TABLES,
  totalsPosition,
  uptime,
  users,
} from "../db/tables.ts";
import type { Verification } from "../db/verify.ts";
import { SALES_ACCOUNT } from "../domain/ledger.ts";
import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import { counted } from "../domain/text.ts";

/** A database that cannot be moved. The message is one sentence for the operator. */
export class MoveError extends Error {
  override name = "MoveError";
}

/** The highest numbers that were given, by table. */
export type GivenNumbers = ReadonlyMap<AnyTable, number>;

/** A database whose writers are kept out for as long as it is open. */
export interface MoveSide {
  /** For messages: its path, or its address without user and password. */
  shown: string;
  store: ReadStore;
  readNumbers(): Awaitable<GivenNumbers>;
  verify(progress: (done: number, total: number) => void): Promise<Verification>;
  /** Nothing that was not committed is kept. */
  close(): Awaitable<void>;
}

export interface MoveTarget extends MoveSide {
  insert(table: AnyTable, rows: readonly AnyRow[]): Awaitable<void>;
  /** Writes some fields of rows that are there. */
  update(table: AnyTable, fields: readonly string[], rows: readonly AnyRow[]): Awaitable<void>;
  /** No number up to these is given again. */
  setNumbers(numbers: GivenNumbers): Awaitable<void>;
  /** After all rows are there, before they are read back. */
  analyze(): Awaitable<void>;
  commit(): Awaitable<void>;
}

export interface Moved {
  users: number;
  orders: number;
  transfers: number;
  /** All rows. */
  rows: number;
  balanceMicros: bigint;
  numbers: GivenNumbers;
}

export type MoveProgress = (what: string, done: number, total: number) => void;

/** Rows that are read and written at once; some hold a whole response. */
const PIECE = 500;
/**
 * Not the rows that belong to a process, and no session: who signed in there signs in here again. Totals of reports are
 * counted anew from what they were counted from.
 */
const STAYING: readonly AnyTable[] = [servers, uptime, panelSessions, dailyTotals, totalsPosition];
const MOVED = TABLES.filter((table) => !STAYING.includes(table));
/** One row each, which the migrations made. */
const SINGLETONS: readonly AnyTable[] = [uptime, catalogueVersion];
/** The rows that the migrations made: accounts of the service itself, and the sandbox. */
const isMade = (table: AnyTable, row: AnyRow): boolean =>
  (table === accounts && Number(row["account"]) <= SALES_ACCOUNT) ||
  (table === providers && row["providerId"] === SANDBOX_PROVIDER);

/** Throws MoveError, and has then changed nothing. */
export async function move(
  source: MoveSide,
  target: MoveTarget,
  progress: MoveProgress,
): Promise<Moved> {
  await refuseUnlessEmpty(target);
  await refuseProblems(source, progress);
  const total = await countAll(source.store);
  await copyRows(source, target, (done) => progress("rows copied:", done, total));
  await copySingletons(source, target);
  const numbers = await source.readNumbers();
  await target.setNumbers(numbers);
  await target.analyze();
  const moved = await compareRows(source, target, (done) =>
    progress("rows compared:", done, total),
  );
  await compareNumbers(numbers, target);
  await refuseProblems(target, progress);
  await target.commit();
  return { ...moved, numbers };
}

async function refuseUnlessEmpty({ store, shown }: MoveTarget): Promise<void> {
  for (const table of MOVED) {
    const first = firstPiece(table);
    const found = await store.read((reader) => reader.all(first, { limit: PIECE }));
    if (found.every((row) => isMade(table, row))) continue;
    const rows = await countRows(store, table);
    throw new MoveError(
      `${shown} is not empty (${table.name}: ${counted(rows, "row")}): name an empty one`,
    );
  }
}

async function refuseProblems(side: MoveSide, progress: MoveProgress): Promise<void> {
  const { problems, problemCount } = await side.verify((done, total) =>
    progress(`verifying ${side.shown}:`, done, total),
  );
  const [first] = problems;
  if (!first) return;
  throw new MoveError(
    `${side.shown} does not add up (${counted(problemCount, "problem")}, ${first.subject}: ${first.problem}): nothing was moved, run \`reseller verify\``,
  );
}

async function copyRows(
  source: MoveSide,
  target: MoveTarget,
  progress: (done: number) => void,
): Promise<void> {
  let done = 0;
  for (const table of MOVED) {
    for await (const rows of piecesOf(source.store, table)) {
      await insertRows(target, table, rows);
      progress((done += rows.length));
    }
    if (table !== keys) continue;
    // A key may refer to a later one.
    for await (const rows of piecesOf(source.store, keys)) {
      const replaced = rows.filter((row) => row["replacedBy"] !== null);
      if (replaced.length > 0) await target.update(keys, ["replacedBy"], replaced);
    }
  }
}

async function insertRows(
  target: MoveTarget,
  table: AnyTable,
  rows: readonly AnyRow[],
): Promise<void> {
  let inserted = rows.filter((row) => !isMade(table, row));
  if (table === keys) inserted = inserted.map((row) => ({ ...row, replacedBy: null }));
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
        `${target.shown} was served for longer than ${source.shown}: name one that was never served`,
      );
    }
    const fields = table.columns
      .map(({ field }) => field)
      .filter((field) => !table.key.includes(field));
    await target.update(table, fields, [row]);
  }
}

/** Reads everything back. */
async function compareRows(
  source: MoveSide,
  target: MoveTarget,
  progress: (done: number) => void,
): Promise<Omit<Moved, "numbers">> {
  const counts = new Map<AnyTable, number>();
  let rows = 0;
  let balanceMicros = 0n;
  for (const table of [...MOVED, ...SINGLETONS]) {
    const copies = rowsOf(target.store, table);
    let count = 0;
    for await (const row of rowsOf(source.store, table)) {
      const copy = await copies.next();
      const field = table.columns.find(
        (each) => copy.done || copy.value[each.field] !== row[each.field],
      );
      if (field) throw differs(target, table, row, field.field);
      // Without test money.
      if (table === users && row["testOf"] === null)
        balanceMicros += row["balanceMicros"] as bigint;
      count += 1;
      if (++rows % PIECE === 0) progress(rows);
    }
    if (!(await copies.next()).done) throw new MoveError(`${target.shown} has more ${table.name}`);
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

function differs({ shown }: MoveSide, table: AnyTable, row: AnyRow, field: string): MoveError {
  const key = table.key.map((each) => String(row[each])).join(" ");
  return new MoveError(
    `${shown} does not hold ${table.name} ${key} as it was (${field}): nothing was moved`,
  );
}

async function compareNumbers(numbers: GivenNumbers, target: MoveTarget): Promise<void> {
  const found = await target.readNumbers();
  for (const [table, given] of numbers) {
    if ((found.get(table) ?? 0) >= given) continue;
    throw new MoveError(`${target.shown} would give numbers of ${table.name} again`);
  }
}

async function countAll(store: ReadStore): Promise<number> {
  let rows = 0;
  for (const table of MOVED) rows += await countRows(store, table);
  return rows;
}

async function countRows(store: ReadStore, { name }: AnyTable): Promise<number> {
  const count = query({ gives: { rows: number }, text: `SELECT count(*) AS rows FROM ${name}` });
  return (await store.read((reader) => reader.one(count)))!.rows;
}

async function* rowsOf(store: ReadStore, table: AnyTable): AsyncGenerator<AnyRow, undefined> {
  for await (const rows of piecesOf(store, table)) yield* rows;
}

/** All rows in the order of their keys, which is the same on every engine: by number, or by byte. */
async function* piecesOf(store: ReadStore, table: AnyTable): AsyncGenerator<AnyRow[], undefined> {
  const first = firstPiece(table);
  const next = nextPiece(table);
  let rows = await store.read((reader) => reader.all(first, { limit: PIECE }));
  while (rows.length > 0) {
    yield rows;
    if (rows.length < PIECE) return;
    const last = rows.at(-1)!;
    const after = Object.fromEntries(table.key.map((field) => [field, last[field]!]));
    rows = await store.read((reader) => reader.all(next, { ...after, limit: PIECE }));
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
  const takes = Object.fromEntries(columns.map(({ field, kind }) => [field, kind]));
  return pieceQuery(table, `WHERE (${names}) > (${values})`, takes);
}

function pieceQuery(table: AnyTable, where: string, takes: object): PieceQuery {
  const order = keyColumns(table)
    .map(({ name }) => name)
    .join();
  return query({
    takes: { ...takes, limit: number } as Record<string, typeof number>,
    gives: Object.fromEntries(table.columns.map(({ field, kind }) => [field, kind])),
    text: `SELECT ${select(table)} FROM ${table.name} ${where} ORDER BY ${order} LIMIT :limit`,
  }) as unknown as PieceQuery;
}

function keyColumns({ key, columns }: AnyTable) {
  return key.map((field) => columns.find((column) => column.field === field)!);
}
