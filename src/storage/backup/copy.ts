// Copies of the database: made while it is in use, verified, and given their name only when complete and synced.

import { Database } from "bun:sqlite";
import {
  closeSync, existsSync, linkSync, mkdirSync, openSync, renameSync, rmdirSync, rmSync,
} from "node:fs"; // prettier-ignore
import { dirname, join } from "node:path";
import { connectPort } from "../../db/sqlite/connection.ts";
import { freeBytesIn, mebibytes, sizeOf, syncPath } from "../file/files.ts";
import { takeLock } from "../file/lock.ts";
import { pendingMigrations } from "../file/migrate.ts";
import { openErrorOf } from "../file/open-error.ts";
import { openReader } from "../file/open.ts";
import type { Verification } from "../../db/verify/verify.ts";
import { BackupError } from "./backup-error.ts";
import { unverifiedName } from "./backup-names.ts";
import { verify } from "../doctor/verify.ts";
import { errorCode } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";

/** Disk space that a backup leaves free for the database itself. */
const ROOM_LEFT_BYTES = 64 * 1024 * 1024;
/** Suffix of the staging folder in which a backup is made. */
export const STAGING_SUFFIX = ".partial";
const COPY_FILE = "copy.db";
const LOCK_FILE = "lock";

/** The folder beside the target in which a copy is made. Only one process holds it at a time. */
export interface Staging {
  copy: string;
  /** Removes the copy, and the folder unless it holds anything else. */
  end(): void;
}

/**
 * Opens the staging folder of a target; null while another process makes that backup. It may still hold files of a
 * killed process.
 */
export function openStaging(target: string): Staging | null {
  const folder = target + STAGING_SUFFIX;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = takeLock(join(folder, LOCK_FILE));
    if (!lock) return null;
    return {
      copy: join(folder, COPY_FILE),
      end() {
        removeStaging(folder);
        lock.release();
      },
    };
  } catch (error) {
    throw new BackupError(
      `${folder} cannot be used (${errorCode(error) || String(error)}): remove it if it exists, or choose another location`,
    );
  }
}

/**
 * Removes only what a backup makes there, because the folder may have existed before. The lock file is removed last:
 * after that another process can lock the folder.
 */
function removeStaging(folder: string): void {
  for (const name of [COPY_FILE, `${COPY_FILE}-journal`, `${LOCK_FILE}-journal`]) {
    rmSync(join(folder, name), { force: true });
  }
  rmSync(join(folder, LOCK_FILE));
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!["ENOTEMPTY", "ENOENT"].includes(errorCode(error))) throw error;
  }
}

/** Refuses a target that exists, or whose folder is missing or has too little disk space. */
export function refuseBackup(path: string, target: string): void {
  for (const name of [target, unverifiedName(target)]) {
    if (!existsSync(name)) continue;
    throw new BackupError(
      `${name} already exists and was not overwritten: choose another file name`,
    );
  }
  const folder = dirname(target);
  if (!existsSync(folder)) {
    throw new BackupError(`folder ${folder} not found: create it, or choose another location`);
  }
  const needed = sizeOf(path) + sizeOf(`${path}-wal`) + ROOM_LEFT_BYTES;
  const free = freeBytesIn(folder);
  if (free < needed) {
    throw new BackupError(
      `${folder} has too little free space for a backup (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): free some, or choose another location`,
    );
  }
}

/** Makes a consistent copy of a live database without blocking its writers. Blocks this thread. */
export function copyDatabase(path: string, target: string): void {
  const { sqlite } = openReader(path);
  try {
    // The connection is read-only without query_only, which would refuse VACUUM INTO.
    sqlite.run("PRAGMA query_only = OFF");
    sqlite.query("VACUUM INTO ?").run(target);
  } finally {
    sqlite.close();
  }
}

/** What `verify` found in a copy. */
export interface CheckedCopy extends Verification {
  /** The problem as the rest of a sentence that begins with the name of the copy; null if there is none. */
  fault: string | null;
  /** Whether pages of the file are damaged. */
  isDamaged: boolean;
}

/** Checks the pages and the content of a copy. */
export async function checkCopy(file: string): Promise<CheckedCopy> {
  const sqlite = new Database(file, { readonly: true });
  try {
    const damage = findDamage(sqlite);
    const verification = await verify(connectPort(sqlite, file));
    const fault = damage === null ? firstProblemText(verification) : `is damaged: ${damage}`;
    return { ...verification, fault, isDamaged: damage !== null };
  } finally {
    sqlite.close(true);
  }
}

function firstProblemText({ problems: [first], problemCount }: Verification): string | null {
  if (!first) return null;
  return `does not add up (${counted(problemCount, "problem")}, ${first.subject}: ${first.problem})`;
}

/**
 * Checks a backup. For a backup of an older version only the pages are checked, because its schema is not this
 * program's. Throws OpenError if the file cannot be opened.
 */
export async function checkBackup(file: string): Promise<Pick<CheckedCopy, "fault" | "isDamaged">> {
  try {
    const sqlite = new Database(file, { readonly: true });
    try {
      if (pendingMigrations(sqlite, file).length > 0) {
        const damage = findDamage(sqlite);
        return { fault: damage && `is damaged: ${damage}`, isDamaged: damage !== null };
      }
    } finally {
      sqlite.close();
    }
    return await checkCopy(file);
  } catch (error) {
    throw openErrorOf(error, file) ?? error;
  }
}

/** Returns the first damage of the pages, or null. */
function findDamage(sqlite: Database): string | null {
  const { quick_check: found } = sqlite.query("PRAGMA quick_check(1)").get() as {
    quick_check: string;
  };
  return found === "ok" ? null : found;
}

/** Syncs a finished copy and gives it its name. Throws BackupError if the name is taken. */
export function publishCopy(copy: string, target: string): void {
  syncPath(copy);
  try {
    giveName(copy, target);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw new BackupError(`${target} already exists and was not overwritten`);
  }
  syncPath(dirname(target));
}

/** Gives the copy its name without a race. Throws EEXIST if the name is taken. */
function giveName(copy: string, target: string): void {
  try {
    return linkSync(copy, target);
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw error;
  }
  // The file system has no hard links: claim the name with an empty file, then rename the copy over it. A process
  // killed between the two leaves an empty file, which `restore` refuses.
  closeSync(openSync(target, "wx", 0o600));
  try {
    renameSync(copy, target);
  } catch (error) {
    rmSync(target);
    throw error;
  }
}
