// Reads what happened since the backup from the database that a restore replaces: issued numbers, ended keys, what
// people may do, changed settings. That database may be damaged, of a later version, or unrelated to the backup.

import type { Database } from "bun:sqlite";
import { isTransientError } from "../../db/sqlite/errors.ts";
import {
  type Access,
  type Change,
  changesOfShared,
  changesSince,
  type KeyState,
  type MemberAccess,
  readAdministratorAccess,
  readKeys,
  readKeyTerms,
  readMemberAccess,
  readSettings,
} from "./restore-changes.ts";
import {
  NUMBERED_TABLES,
  type NumberedTable,
  type Numbers,
  numbersBy,
} from "../../db/ledger/number-floors.ts";
import { highestNumber, canBeIssued, margins, NUMBERED } from "../../db/sqlite/row-numbers.ts";
import { openReader } from "../file/open.ts";
import { lastInvoice, readInvoicesSince } from "./replaced-invoices.ts";
import type { InvoicesSince } from "../../db/ledger/invoices.ts";
import { type Totals, totalsOf } from "./totals.ts";
import { errorCode } from "../../domain/values/error-table.ts";

/** What happened since a backup, as found in the database that the backup replaces. */
export interface SinceBackup {
  /** Why it is not known what happened, as a clause; null if everything is known. */
  unknownBecause: string | null;
  /** Totals of the replaced database; null if there is none or it cannot be read. */
  totals: Totals | null;
  /** Whole US dollars transferred since the backup; a restore undoes these transfers. 0 if nothing can be read. */
  movedDollars: number;
  /** The highest numbers known to be issued. */
  issued: Numbers;
  /** The highest numbers that may have been issued: `issued`, plus a margin if they are not all known. */
  floors: Numbers;
  keys: {
    /** Keys that are usable in the backup but have ended since: deactivated, expired, or ended for good. */
    ended: KeyState[];
    /** Keys that are usable in the backup, but may have been ended or got another expiry since. */
    revived: KeyState[];
    /** Keys created since the backup. */
    lost: KeyState[];
  };
  /** What administrators of the panel may do in the replaced database. They may do no more after the restore. */
  administrators: Access[];
  /** What members of the portal may do there. */
  members: MemberAccess[];
  /**
   * Settings that were changed since the backup. Filled only if the replaced database is a continuation of the backup.
   */
  changes: Change[];
  /** The invoices issued since the backup; null: it is not known which. */
  invoices: InvoicesSince | null;
}

/** Compares the backup with the database at `path`, which it replaces; null if there is none. Only reads. */
export function readSinceBackup(backup: Database, path: string | null, now: number): SinceBackup {
  const replaced = path === null ? null : openReplaced(path);
  try {
    return compare(backup, replaced, path === null, now);
  } finally {
    replaced?.close(true);
  }
}

/**
 * Returns whether a command wrote to the database at `path` after it was read: the lock keeps out servers, but not
 * commands.
 */
export function hasNewRows(path: string, { issued, invoices }: SinceBackup): boolean {
  const sqlite = openReplaced(path);
  try {
    const known = invoices?.rows.at(-1)?.invoiceId;
    if (sqlite && known !== undefined && lastInvoice(sqlite) > known) return true;
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
  const keyTerms = (isContinuation && read(readKeyTerms)) || new Map<string, never>();
  const areNumbersRead = NUMBERED_TABLES.every((table) => numberOf(table) !== null);
  const isRead = keys !== null && areNumbersRead && read(isIntact) === true;
  const unknownBecause = isNone
    ? "there was no database to compare with the backup"
    : !isRead
      ? "the replaced database is damaged or belongs to another program"
      : !isContinuation
        ? "the replaced database does not continue from this backup"
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
    invoices: unknownBecause === null ? read((sqlite) => readInvoicesSince(backup, sqlite)) : null,
    administrators: (isContinuation && read(readAdministratorAccess)) || [],
    members: (isContinuation && read(readMemberAccess)) || [],
    changes: [
      ...changesOfShared(readKeyTerms(backup), keyTerms),
      ...(settings ? changesSince(readSettings(backup), settings) : []),
    ],
  };
}

function highestSeq(sqlite: Database): number {
  return (sqlite.query("SELECT max(seq) FROM transfers").values()[0]?.[0] as number | null) ?? 0;
}

/**
 * Returns the dollars transferred after the transfer `seq`, without test money. Rounds each transfer down, so that sums
 * fit in 64 bits.
 */
function dollarsMovedSince(sqlite: Database, seq: number): number {
  const sum = sqlite.query(
    "SELECT sum(amount_micros / 1000000) FROM transfers WHERE seq > ? AND debit_account > 0 AND credit_account > 0",
  );
  // A damaged table may hold any value.
  return Math.trunc(Number(sum.values(seq)[0]?.[0] ?? 0)) || 0;
}

function compareKeys(
  inBackup: Map<string, KeyState>,
  since: Map<string, KeyState> | null,
  { isContinuation, isKnown, now }: { isContinuation: boolean; isKnown: boolean; now: number },
): SinceBackup["keys"] {
  const isUsable = ({ active, isEnded, expiresAt }: KeyState) =>
    active && !isEnded && (expiresAt === null || expiresAt > now);
  // A key that the clock refuses now must not become usable again when the clock is set back.
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

/** Returns null if the file cannot be opened as a database. */
function openReplaced(path: string): Database | null {
  // The connection waits for locks: the last connection of another process may still be closing.
  return unlessUnreadable(() => openReader(path).sqlite);
}

/**
 * Returns null if the number cannot be read or cannot have been issued: a damaged or foreign table may hold any
 * value.
 */
function numberIssued(sqlite: Database, table: NumberedTable): number | null {
  const number = unlessUnreadable(() => highestNumber(sqlite, table));
  return number !== null && canBeIssued(number) ? number : null;
}

function isIntact(sqlite: Database): boolean {
  const [[found]] = sqlite.query("PRAGMA quick_check(1)").values() as [[string]];
  return found === "ok";
}

/** Expressions that identify a row; they never change. */
const IDENTITY = {
  orders: "id",
  transfers: "created_at || ' ' || amount_micros || ' ' || debit_account || ' ' || credit_account",
  audit: "created_at || ' ' || action || ' ' || subject",
} as const;
const IDENTIFIED = Object.keys(IDENTITY) as (keyof typeof IDENTITY)[];

/**
 * Returns whether `replaced` is the same database as the backup, at the same or a later time: it was created at the
 * same moment and has the newest rows of the backup. A new database is not a continuation. Neither is a database to
 * which an older backup was restored.
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

/** Returns null if SQLite reports an error, such as a damaged file or a missing table. */
function unlessUnreadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const code = errorCode(error);
    // A busy database is not damaged: the restore is refused and may be retried.
    if (code.startsWith("SQLITE_") && !isTransientError(error)) return null;
    throw error;
  }
}
