// A data directory as the source or target of a move. Its lock keeps servers out, and a write transaction keeps
// commands out.

import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Connection } from "../../db/sqlite/connection.ts";
import { NUMBERED_TABLES } from "../../db/ledger/number-floors.ts";
import { recordAllClockSteps } from "../../db/sqlite/clock-steps.ts";
import { highestNumber } from "../../db/sqlite/row-numbers.ts";
import type { AnyRow, AnyTable, Value } from "../../db/port/table-definition.ts";
import { TABLES } from "../../db/tables/tables.ts";
import { sizeOf } from "../file/files.ts";
import {
  createMarked,
  isUnfinished,
  MARK,
  type TargetOrigin,
  UNMARK,
  unmarkTarget,
} from "./unfinished-move.ts";
import { type IssuedNumbers, type MoveSide, type MoveTarget, refuseRows } from "./move.ts";
import {
  claimDataDirectory,
  closeForCommand,
  databasePath,
  lockDataDirectory,
  openForCommand,
} from "../file/open.ts";
import { CHECK_COUNT, verify } from "../doctor/verify.ts";

/** Opens the source, which must exist and have this program's schema. Throws OpenError. */
export function openSource(data: string): MoveSide {
  // Checks that the database exists before taking the lock, which would create the folder.
  closeForCommand(openForCommand(data));
  const release = lockDataDirectory(data);
  try {
    return sideOn(openForCommand(data), databasePath(data), release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Opens the target and creates the database if there is none. Throws OpenError. */
export function openTarget(data: string, now: number): MoveTarget {
  const path = databasePath(data);
  // A database of an older version with rows is refused, not upgraded. The database of a killed move is reused.
  if (sizeOf(path) > 0 && !isUnfinished(path)) closeForCommand(openForCommand(data));
  let origin: TargetOrigin = "unfinished";
  const { release } = claimDataDirectory(data, now, () => (origin = markTarget(data)));
  let isCommitted = false;
  try {
    const connection = openForCommand(data, true);
    const { sqlite } = connection;
    const side = sideOn(connection, path, release);
    sqlite.run(UNMARK);
    const inserts = new Map<AnyTable, (row: AnyRow) => void>();
    return {
      ...side,
      insert(table, rows) {
        let insert = inserts.get(table);
        if (!insert) inserts.set(table, (insert = insertInto(sqlite, table)));
        for (const row of rows) insert(row);
      },
      update(table, fields, rows) {
        const sets = fields.map((field) => `${nameOf(table, field)} = ?`).join();
        const where = table.key.map((field) => `${nameOf(table, field)} = ?`).join(" AND ");
        const update = sqlite.prepare(`UPDATE ${table.name} SET ${sets} WHERE ${where}`);
        for (const row of rows)
          update.run(...[...fields, ...table.key].map((field) => bind(row[field]!)));
      },
      setNumbers(numbers) {
        const raise = sqlite.prepare(
          `INSERT INTO number_floors (table_name, floor) VALUES (?, ?)
          ON CONFLICT (table_name) DO UPDATE SET floor = max(floor, excluded.floor)`,
        );
        for (const [{ name }, given] of numbers) {
          if (given > 0 && NUMBERED_TABLES.some((table) => table === name)) raise.run(name, given);
        }
      },
      finishRows: () => recordAllClockSteps(sqlite),
      commit() {
        sqlite.run("COMMIT");
        isCommitted = true;
        sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      },
      close() {
        if (sqlite.inTransaction) sqlite.run("ROLLBACK");
        closeForCommand(connection);
        if (!isCommitted) unmarkTarget(path, origin);
        release();
      },
    };
  } catch (error) {
    unmarkTarget(path, origin);
    release();
    throw error;
  }
}

/** Marks the target, under the lock of the data directory. Refuses a database that has rows, without marking it. */
function markTarget(data: string): TargetOrigin {
  const path = databasePath(data);
  if (sizeOf(path) === 0) {
    createMarked(path);
    return "none";
  }
  if (isUnfinished(path)) return "unfinished";
  const connection = openForCommand(data);
  const { sqlite, store } = connection;
  try {
    sqlite.run("BEGIN IMMEDIATE");
    store.read((reader) => refuseRows(reader, path));
    sqlite.run(MARK);
    sqlite.run("COMMIT");
    return "empty";
  } finally {
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    closeForCommand(connection);
  }
}

function sideOn(connection: Connection, path: string, release: () => void): MoveSide {
  const { sqlite, store } = connection;
  try {
    sqlite.run("BEGIN IMMEDIATE");
  } catch (error) {
    closeForCommand(connection);
    throw error;
  }
  return {
    displayName: path,
    store,
    readNumbers: () => readIssuedNumbers(sqlite),
    verify: (progress) => verify(connection, (done) => progress(done, CHECK_COUNT)),
    close() {
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      closeForCommand(connection);
      release();
    },
  };
}

/**
 * Returns the highest issued number of each table. For tables whose numbers no caller knows, that is the highest in the
 * table.
 */
function readIssuedNumbers(sqlite: Database): IssuedNumbers {
  const numbers = new Map<AnyTable, number>();
  for (const table of TABLES) {
    if (table.numberField === null) continue;
    const known = NUMBERED_TABLES.find((name) => name === table.name);
    const highest = `SELECT coalesce(max(${nameOf(table, table.numberField)}), 0) AS number FROM ${table.name}`;
    const number = known
      ? highestNumber(sqlite, known)
      : (sqlite.query(highest).get() as { number: number }).number;
    numbers.set(table, number);
  }
  return numbers;
}

function insertInto(sqlite: Database, table: AnyTable): (row: AnyRow) => void {
  const names = table.columns.map(({ name }) => name).join();
  const marks = table.columns.map(() => "?").join();
  const insert = sqlite.prepare(`INSERT INTO ${table.name} (${names}) VALUES (${marks})`);
  return (row) => void insert.run(...table.columns.map(({ field }) => bind(row[field]!)));
}

function bind(value: Value): SQLQueryBindings {
  return typeof value === "boolean" ? Number(value) : value;
}

function nameOf({ columns }: AnyTable, field: string): string {
  return columns.find((column) => column.field === field)!.name;
}
