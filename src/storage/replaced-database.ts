// Reads the database that a restore replaces for what happened since the backup: numbers that were issued, keys that
// were ended, settings that were changed. It may be of any version, damaged, or a different database.

import type { Database } from "bun:sqlite";
import { isTransientError } from "../db/sqlite/errors.ts";
import {
  type Change,
  changesSince,
  type KeyState,
  readDisabled,
  readKeys,
  readSettings,
} from "./restore-changes.ts";
import {
  NUMBERED_TABLES,
  type NumberedTable,
  type Numbers,
  numbersBy,
} from "../db/number-floors.ts";
import { highestNumber, isPlausible, margins, NUMBERED } from "../db/sqlite/numbers.ts";
import { openReader } from "./open.ts";
import { type Totals, totalsOf } from "./totals.ts";
import { errorCode } from "../domain/refusals.ts";

/** What happened since a backup, as found in the database that it replaces. */
export interface SinceBackup {
  /** Null: everything that happened since is known. Otherwise the reason why it is not, as a clause. */
  unknownBecause: string | null;
  /** Of the replaced database; null when there is none or it cannot be read. */
  totals: Totals | null;
  /** What was transferred there since, in whole US dollars: what a restore takes back. 0 where nothing can be read. */
  movedDollars: number;
  /** The highest numbers that are known to have been issued. */
  issued: Numbers;
  /** The highest that may have been issued: `issued`, plus a margin when it is not known. */
  floors: Numbers;
  keys: {
    /** Usable in the backup, ended since: deactivated, expired, or ended for good. */
    ended: KeyState[];
    /** Usable in the backup, but perhaps ended since: it is not known, or their expiry was changed. */
    revived: KeyState[];
    /** Created since. */
    lost: KeyState[];
  };
  /** Administrators of the panel who are disabled there: they stay so. */
  disabled: string[];
  /** Settings that were changed since. Only if the replaced database is a continuation of the backup. */
  changes: Change[];
}

/** Reads only. `path`: the database to be replaced; null without one. */
export function readSinceBackup(backup: Database, path: string | null, now: number): SinceBackup {
  const replaced = path === null ? null : openReplaced(path);
  try {
    return compare(backup, replaced, path === null, now);
  } finally {
    replaced?.close(true);
  }
}

/** Whether a command wrote to the database at `path` after it was read: the lock keeps servers out, not commands. */
export function hasNewRows(path: string, { issued }: SinceBackup): boolean {
  const sqlite = openReplaced(path);
  try {
    return NUMBERED_TABLES.some((table) => {
      const highest = sqlite && numberIssued(sqlite, table);
      return (highest ?? 0) > issued[table];
    });
  } finally {
    sqlite?.close(true);
  }
}

function compare(
  backup: Database,
  replaced: Database | null,
  isNone: boolean,
  now: number,
): SinceBackup {
  const read = <T>(body: (sqlite: Database) => T): T | null =>
    replaced && unlessUnreadable(() => body(replaced));
  const isContinuation = read((sqlite) => isContinuationOf(backup, sqlite)) ?? false;
  const numberOf = (table: NumberedTable) => replaced && numberIssued(replaced, table);
  const issued = numbersBy((table) => Math.max(highestNumber(backup, table), numberOf(table) ?? 0));
  const keys = read(readKeys);
  const settings = isContinuation ? read(readSettings) : null;
  const areNumbersRead = NUMBERED_TABLES.every((table) => numberOf(table) !== null);
  const isRead = keys !== null && areNumbersRead && read(isIntact) === true;
  const unknownBecause = isNone
    ? "there was no database that tells what happened since the backup"
    : !isRead
      ? "the database that was there is damaged or of another program"
      : !isContinuation
        ? "the database that was there does not go on from this backup"
        : null;
  const added = margins(backup);
  return {
    unknownBecause,
    totals: read(totalsOf),
    movedDollars:
      read((sqlite) => dollarsMovedSince(sqlite, isContinuation ? highestSeq(backup) : 0)) ?? 0,
    issued,
    floors: unknownBecause === null ? issued : numbersBy((table) => issued[table] + added[table]),
    keys: compareKeys(readKeys(backup), keys, {
      isContinuation,
      isKnown: unknownBecause === null,
      now,
    }),
    disabled: (isContinuation && read(readDisabled)) || [],
    changes: settings ? changesSince(readSettings(backup), settings) : [],
  };
}

function highestSeq(sqlite: Database): number {
  return (sqlite.query("SELECT max(seq) FROM transfers").values()[0]?.[0] as number | null) ?? 0;
}

/** Of the live side alone; every transfer rounded down, so that no sum exceeds 64 bits. */
function dollarsMovedSince(sqlite: Database, seq: number): number {
  const sum = sqlite.query(
    "SELECT sum(amount_micros / 1000000) FROM transfers WHERE seq > ? AND debit_account > 0 AND credit_account > 0",
  );
  // A damaged table may hold anything.
  return Math.trunc(Number(sum.values(seq)[0]?.[0] ?? 0)) || 0;
}

function compareKeys(
  inBackup: Map<string, KeyState>,
  since: Map<string, KeyState> | null,
  { isContinuation, isKnown, now }: { isContinuation: boolean; isKnown: boolean; now: number },
): SinceBackup["keys"] {
  const isUsable = ({ active, isEnded, expiresAt }: KeyState) =>
    active && !isEnded && (expiresAt === null || expiresAt > now);
  // One that the clock refuses anyway must not be usable again once the clock is put back.
  const isEndedSince = (key: KeyState) =>
    key.active && !key.isEnded && since?.get(key.id)?.isEnded === true;
  const usable = [...inBackup.values()].filter((key) => isUsable(key) || isEndedSince(key));
  const isEnded = ({ id }: KeyState) => {
    const later = since?.get(id);
    return later !== undefined && !isUsable(later);
  };
  const endsLater = ({ id, expiresAt }: KeyState) => expiresAt !== since?.get(id)?.expiresAt;
  return {
    ended: usable.filter(isEnded),
    revived: usable.filter((key) => !isEnded(key) && (!isKnown || endsLater(key))),
    lost: isContinuation ? [...(since?.values() ?? [])].filter(({ id }) => !inBackup.has(id)) : [],
  };
}

/** Null when it cannot be opened as a database. */
function openReplaced(path: string): Database | null {
  // It waits for locks: the last connection of another process may still be closing.
  return unlessUnreadable(() => openReader(path).sqlite);
}

/** Null where it cannot be read, or is none that a service gave out: a damaged or foreign table may hold anything. */
function numberIssued(sqlite: Database, table: NumberedTable): number | null {
  const number = unlessUnreadable(() => highestNumber(sqlite, table));
  return number !== null && isPlausible(number) ? number : null;
}

function isIntact(sqlite: Database): boolean {
  const [[found]] = sqlite.query("PRAGMA quick_check(1)").values() as [[string]];
  return found === "ok";
}

/** Columns by which a row is recognised: they never change. */
const IDENTITY = {
  orders: "id",
  transfers: "created_at || ' ' || amount_micros || ' ' || debit_account || ' ' || credit_account",
  audit: "created_at || ' ' || action || ' ' || subject",
} as const;
/** Those of every version, so that a backup is compared with a database of an older one too. */
const IDENTIFIED = Object.keys(IDENTITY) as (keyof typeof IDENTITY)[];

/**
 * Whether it is the same database as in the backup, at the same or a later time: created at the same moment, and it has the
 * newest rows of the backup. A new database is not, nor is one to which an older backup was restored.
 */
function isContinuationOf(backup: Database, replaced: Database): boolean {
  const origin = "SELECT applied_at FROM migrations WHERE version = 1";
  const newestUser = "SELECT account, id FROM users ORDER BY account DESC LIMIT 1";
  const newestOf = (table: keyof typeof IDENTITY) =>
    `SELECT ${NUMBERED[table]}, ${IDENTITY[table]} FROM ${table} ORDER BY 1 DESC LIMIT 1`;
  const isIn = (newest: string, same: string) => {
    const [row] = backup.query(newest).values() as [number, string][];
    return row === undefined || replaced.query(same).values(row[0])[0]?.[0] === row[1];
  };
  return (
    replaced.query(origin).values()[0]?.[0] === backup.query(origin).values()[0]?.[0] &&
    isIn(newestUser, "SELECT id FROM users WHERE account = ?") &&
    IDENTIFIED.every((table) =>
      isIn(newestOf(table), `SELECT ${IDENTITY[table]} FROM ${table} WHERE ${NUMBERED[table]} = ?`),
    )
  );
}

/** Null when SQLite reports an error, such as a damaged file or a missing table. */
function unlessUnreadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const code = errorCode(error);
    // A database that is only busy is not damaged: the restore is refused and may be tried again.
    if (code.startsWith("SQLITE_") && !isTransientError(error)) return null;
    throw error;
  }
}
