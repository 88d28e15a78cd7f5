// Putting a backup in the place of the database. The backup is copied beside it, upgraded where it is older, and
// verified; only then do the two change places. At no moment is there no database, whatever happens meanwhile.

import { Database } from "bun:sqlite";
import {
  chownSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync,
} from "node:fs"; // prettier-ignore
import { dirname, join, resolve } from "node:path";
import { BackupError, verifyCopy } from "./backup.ts";
import type { Connection } from "./connection.ts";
import { freeRoom, mebibytes, sizeOf, syncPath } from "./files.ts";
import { claimDataDirectory, databasePath, lockDataDirectory, openForCommand } from "./open.ts";
import { openErrorOf } from "./open-error.ts";
import { pendingMigrations } from "./migrate.ts";

export interface Totals {
  users: number;
  orders: number;
  transfers: number;
  balanceMicros: bigint;
  /** Milliseconds; null without an order. */
  lastOrderAt: number | null;
}

export interface Restored {
  /** The database as it was; null when there was none or it could not be read. */
  before: Totals | null;
  after: Totals;
  /** Where the database as it was is kept; null when there was none. */
  keptAside: string | null;
}

/**
 * `prepare` changes what an old state of the database may no longer claim, before it is the database.
 * Throws BackupError or OpenError, and has then changed nothing.
 */
export function restoreDatabase(
  file: string,
  dataDirectory: string,
  now: number,
  prepare: (staged: Connection) => void,
): Restored {
  refuseUnfit(file);
  const path = databasePath(dataDirectory);
  const release = lockDataDirectory(dataDirectory);
  const staging = join(resolve(dataDirectory), "restoring");
  rmSync(staging, { recursive: true, force: true });
  try {
    refuseWithoutRoom(file, resolve(dataDirectory));
    const staged = stage(file, staging, now, prepare);
    const after = totalsOf(staging);
    const before = existsSync(path) ? settle(dataDirectory, path) : null;
    const keptAside = existsSync(path) ? keepAside(path, now) : null;
    // From here on the backup is the database.
    renameSync(staged, path);
    syncPath(dirname(path));
    return { before, after, keptAside };
  } finally {
    rmSync(staging, { recursive: true, force: true });
    release();
  }
}

/** Refuses a file that is not there, not ours, empty, or of a newer version. */
function refuseUnfit(file: string): void {
  if (!existsSync(file)) throw new BackupError(`there is no file ${file}: name a backup`);
  try {
    const sqlite = new Database(file, { readonly: true });
    try {
      pendingMigrations(sqlite, file);
      const { tables } = sqlite.query("SELECT count(*) AS tables FROM sqlite_schema").get() as {
        tables: number;
      };
      if (tables === 0) throw new BackupError(`${file} is empty: name a backup`);
    } finally {
      sqlite.close();
    }
  } catch (error) {
    throw openErrorOf(error, file) ?? error;
  }
}

function refuseWithoutRoom(file: string, folder: string): void {
  const [free, needed] = [freeRoom(folder), sizeOf(file) + sizeOf(`${file}-wal`)];
  if (free > needed) return;
  throw new BackupError(
    `${folder} has too little room (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): make room first`,
  );
}

/** The backup as a database of its own, at this binary's schema, verified and synced; returns its path. */
function stage(
  file: string,
  staging: string,
  now: number,
  prepare: (staged: Connection) => void,
): string {
  const staged = databasePath(staging);
  mkdirSync(staging, { mode: 0o700 });
  copyFileSync(file, staged);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${staged}-wal`);
  claimDataDirectory(staging, now).release();
  const connection = openForCommand(staging);
  prepare(connection);
  connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  connection.sqlite.close();
  try {
    verifyCopy(staged);
  } catch (error) {
    throw error instanceof BackupError
      ? new BackupError(error.message.replaceAll(staged, file))
      : error;
  }
  const { uid, gid } = statSync(dirname(staging));
  if (process.getuid?.() === 0) chownSync(staged, uid, gid);
  syncPath(staged);
  return staged;
}

/** Brings all of the present database into its one file, so that it can be kept; null when it cannot be read. */
function settle(dataDirectory: string, path: string): Totals | null {
  try {
    const totals = totalsOf(dataDirectory);
    const { sqlite } = openForCommand(dataDirectory);
    const { busy } = sqlite.query("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    sqlite.close();
    if (busy) throw new BackupError(`${path} is used by another command: wait for its end`);
    return totals;
  } catch (error) {
    if (error instanceof BackupError) throw error;
    return null;
  }
}

/** A second name for the present database. What is left of its log belongs to it and goes with it. */
function keepAside(path: string, now: number): string {
  const kept = `${path}.before-restore-${new Date(now).toISOString().replace(/[:.]/g, "-")}`;
  try {
    linkSync(path, kept);
  } catch {
    copyFileSync(path, kept);
  }
  if (sizeOf(`${path}-wal`) > 0) renameSync(`${path}-wal`, `${kept}-wal`);
  rmSync(`${path}-wal`, { force: true });
  rmSync(`${path}-shm`, { force: true });
  syncPath(kept);
  syncPath(dirname(kept));
  return kept;
}

function totalsOf(dataDirectory: string): Totals {
  const { sqlite } = openForCommand(dataDirectory);
  try {
    // Added up here: their sum may pass the 64 bits that each keeps to.
    const balances = sqlite.query("SELECT CAST(balance_micros AS TEXT) FROM users").values();
    const balanceMicros = balances.reduce((sum, [micros]) => sum + BigInt(micros as string), 0n);
    const counts = sqlite
      .query(
        `SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM orders) AS orders,
          (SELECT count(*) FROM transfers) AS transfers,
          (SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1) AS lastOrderAt`,
      )
      .get() as Omit<Totals, "balanceMicros">;
    return { ...counts, balanceMicros };
  } finally {
    sqlite.close();
  }
}
