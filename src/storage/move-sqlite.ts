// Either side of a move that is a data directory. Its lock keeps servers out, a write transaction commands.

import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Connection } from "../db/sqlite/connection.ts";
import { NUMBERED_TABLES } from "../db/number-floors.ts";
import { highestNumber } from "../db/sqlite/numbers.ts";
import type { AnyRow, AnyTable, Value } from "../db/table-definition.ts";
import { TABLES } from "../db/tables.ts";
import { sizeOf } from "./files.ts";
import type { GivenNumbers, MoveSide, MoveTarget } from "./move.ts";
import {
  claimDataDirectory,
  closeForCommand,
  databasePath,
  lockDataDirectory,
  openForCommand,
} from "./open.ts";
import { CHECK_COUNT, verify } from "./verify.ts";

/** The database must be there, at this program's schema. Throws OpenError. */
export function openSource(data: string): MoveSide {
  // Before the lock, which would create the folder.
  closeForCommand(openForCommand(data));
  const release = lockDataDirectory(data);
  try {
    return sideOn(openForCommand(data), databasePath(data), release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Creates the database where there is none. Throws OpenError. */
export function openTarget(data: string, now: number): MoveTarget {
  // One with rows of an older version is refused as it is, not upgraded.
  if (sizeOf(databasePath(data)) > 0) closeForCommand(openForCommand(data));
  const { release } = claimDataDirectory(data, now);
  try {
    const connection = openForCommand(data);
    const { sqlite } = connection;
    const side = sideOn(connection, databasePath(data), release);
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
      analyze() {},
      commit() {
        sqlite.run("COMMIT");
        sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      },
    };
  } catch (error) {
    release();
    throw error;
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
    shown: path,
    store,
    readNumbers: () => numbersOf(sqlite),
    verify: (progress) => verify(connection, (done) => progress(done, CHECK_COUNT)),
    close() {
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      closeForCommand(connection);
      release();
    },
  };
}

/** For tables whose numbers no caller knows: the highest in the table. */
function numbersOf(sqlite: Database): GivenNumbers {
  const numbers = new Map<AnyTable, number>();
  for (const table of TABLES) {
    if (table.numbered === null) continue;
    const known = NUMBERED_TABLES.find((name) => name === table.name);
    const highest = `SELECT coalesce(max(${nameOf(table, table.numbered)}), 0) AS number FROM ${table.name}`;
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
