// Replaces the database by a backup: docs/specification/storage.md#restore. The backup is copied beside the database,
// upgraded if it is older, and verified. Only then is it renamed over the database, so that a database always exists.
// Keys that ended since the backup stay ended: one that works again would be a breach. Prices and settings go back and
// are named: they are the operator's decision. Waiting webhooks are sent again, because receivers know a repeated event by
// its id and a lost one cannot be recovered. Invoices issued since are kept: others have them.

import { Database } from "bun:sqlite";
import { chownSync, copyFileSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BackupError } from "./backup-error.ts";
import { checkCopy } from "./copy.ts";
import type { Awaitable, Store } from "../../db/port/port.ts";
import { freeBytesIn, mebibytes, sizeOf, syncPath, whyNoReachableFile } from "../file/files.ts";
import { keepReplaced, settleReplaced, STAGING_FOLDER } from "./replaced-file.ts";
import {
  claimDataDirectory,
  closeForCommand,
  databasePath,
  lockDataDirectory,
  openForCommand,
} from "../file/open.ts";
import { openErrorOf } from "../file/open-error.ts";
import { pendingMigrations } from "../file/migrate.ts";
import { hasNewRows, readSinceBackup, type SinceBackup } from "./replaced-database.ts";
import { schemaDifferences } from "../file/schema-check.ts";
import { type Totals, totalsOf } from "./totals.ts";

export interface Restored {
  /** What happened in the replaced database since the backup. */
  since: SinceBackup;
  after: Totals;
  /** Path under which the replaced database is kept; null if there was none. */
  keptAside: string | null;
  /** What is wrong with the restored database, as the rest of a sentence; null if nothing is. */
  fault: string | null;
}

type Prepare = (staged: Store, since: SinceBackup) => Awaitable<void>;

export interface RestoreTerms {
  now: number;
  /** Whether to restore a backup even if `verify` finds problems in it. */
  acceptsUnverified: boolean;
}

/**
 * Restores a backup. `prepare` runs on the restored copy before it goes live. Throws BackupError, OpenError, or the
 * error of `prepare`, after changing nothing.
 */
export async function restoreDatabase(
  file: string,
  dataDirectory: string,
  { now, acceptsUnverified }: RestoreTerms,
  prepare: Prepare,
): Promise<Restored> {
  const path = databasePath(dataDirectory);
  refuseUnfit(file, acceptsUnverified);
  refuseIrregularFile(path, "move it away first");
  const release = lockDataDirectory(dataDirectory);
  const staging = join(resolve(dataDirectory), STAGING_FOLDER);
  try {
    settleReplaced(path);
    refuseWithoutRoom(file, resolve(dataDirectory));
    const replaced = existsSync(path) ? path : null;
    const staged = stage(file, staging, now);
    const { since, after } = await prepareStaged(staging, replaced, now, prepare);
    const fault = await checkStaged(staged, file, acceptsUnverified);
    if (replaced) {
      checkpointReplaced(dataDirectory, path);
      if (hasNewRows(path, since))
        throw new BackupError(
          `${path} was changed by another command during the restore: run the restore again`,
        );
    }
    const keptAside = replaced ? keepReplaced(path, now) : null;
    // The restored copy goes live.
    renameSync(staged, path);
    syncPath(dirname(path));
    return { since, after, keptAside, fault };
  } finally {
    try {
      settleReplaced(path);
    } finally {
      release();
    }
  }
}

/** Refuses a file that does not exist, is empty, of a newer version, or another program's. */
function refuseUnfit(file: string, acceptsUnverified: boolean): void {
  refuseIrregularFile(file, "name a backup");
  if (!existsSync(file)) throw new BackupError(`${file} not found: choose a backup`);
  refuseIrregularFile(`${file}-wal`, "move it away first");
  try {
    const sqlite = new Database(file, { readonly: true });
    try {
      pendingMigrations(sqlite, file);
      const { tables } = sqlite.query("SELECT count(*) AS tables FROM sqlite_schema").get() as {
        tables: number;
      };
      if (tables === 0) throw new BackupError(`${file} is empty: choose a backup`);
      const differences = acceptsUnverified ? "" : schemaDifferences(sqlite);
      if (differences !== "") {
        throw new BackupError(
          `${file} has a schema that differs from its version (${differences}): ${UNVERIFIED_ADVICE}`,
        );
      }
    } finally {
      sqlite.close();
    }
  } catch (error) {
    throw openErrorOf(error, file) ?? error;
  }
}

/** Refuses a path that is not a regular file or cannot be reached. A missing file is allowed. */
function refuseIrregularFile(path: string, advice: string): void {
  const why = whyNoReachableFile(path);
  if (why) throw new BackupError(`${why}: ${advice}`);
}

function refuseWithoutRoom(file: string, folder: string): void {
  const [free, needed] = [freeBytesIn(folder), sizeOf(file) + sizeOf(`${file}-wal`)];
  if (free > needed) return;
  throw new BackupError(
    `${folder} has too little free space (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): free some first`,
  );
}

/** Copies the backup into the staging folder and migrates it to this program's schema. Returns its path. */
function stage(file: string, staging: string, now: number): string {
  const staged = databasePath(staging);
  mkdirSync(staging, { mode: 0o700 });
  copyFileSync(file, staged);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${staged}-wal`);
  claimDataDirectory(staging, now).release();
  return staged;
}

async function prepareStaged(
  staging: string,
  replaced: string | null,
  now: number,
  prepare: Prepare,
): Promise<Pick<Restored, "since" | "after">> {
  const connection = openForCommand(staging);
  try {
    const since = readSinceBackup(connection.sqlite, replaced, now);
    await prepare(connection.store, since);
    connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return { since, after: totalsOf(connection.sqlite) };
  } finally {
    closeForCommand(connection);
  }
}

const UNVERIFIED_ADVICE =
  "nothing was changed; choose an older backup, or restore this one unverified with --unverified";

/** Verifies the copy, gives it to the owner of the data directory, and syncs it. Returns what is wrong with it. */
async function checkStaged(
  staged: string,
  file: string,
  acceptsUnverified: boolean,
): Promise<string | null> {
  const { fault } = await checkCopy(staged);
  if (fault !== null && !acceptsUnverified)
    throw new BackupError(`${file} ${fault}: ${UNVERIFIED_ADVICE}`);
  const { uid, gid } = statSync(dirname(dirname(staged)));
  if (process.getuid?.() === 0) chownSync(staged, uid, gid);
  syncPath(staged);
  return fault;
}

/** Checkpoints the present database into its file, so that it can be kept. Skips one that cannot be read. */
function checkpointReplaced(dataDirectory: string, path: string): void {
  try {
    const connection = openForCommand(dataDirectory);
    const { busy } = connection.sqlite.query("PRAGMA wal_checkpoint(TRUNCATE)").get() as {
      busy: number;
    };
    closeForCommand(connection);
    if (busy) throw new BackupError(`${path} is in use by another command: wait for it to finish`);
  } catch (error) {
    if (error instanceof BackupError) throw error;
  }
}
