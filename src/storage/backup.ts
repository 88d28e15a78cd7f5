// Copies of the database: made from a live one, verified, and published under their name only when whole and synced.

import { Database } from "bun:sqlite";
import {
  closeSync, existsSync, linkSync, mkdirSync, openSync, renameSync, rmdirSync, rmSync,
} from "node:fs"; // prettier-ignore
import { dirname, join } from "node:path";
import { connectionOf } from "../db/sqlite/connection.ts";
import { freeBytesIn, mebibytes, sizeOf, syncPath } from "./files.ts";
import { takeLock } from "./lock.ts";
import { pendingMigrations } from "./migrate.ts";
import { openErrorOf } from "./open-error.ts";
import { openReader } from "./open.ts";
import type { Verification } from "../db/verify.ts";
import { verify } from "./verify.ts";
import { errorCode } from "../domain/refusals.ts";
import { counted } from "../domain/text.ts";

/** Disk space that a backup leaves free, for the database itself. */
const ROOM_LEFT_BYTES = 64 * 1024 * 1024;
/** The suffix of the staging folder, in which a backup is made. */
export const STAGING_SUFFIX = ".partial";
const COPY_FILE = "copy.db";
const LOCK_FILE = "lock";

/** A copy could not be made or cannot be used. The message is one sentence for the operator. */
export class BackupError extends Error {
  override name = "BackupError";
}

/** The folder beside the target in which a copy is made. One process holds it at a time. */
export interface Staging {
  copy: string;
  /** Removes what was made there, and the folder unless it holds anything else. */
  end(): void;
}

/** Null while another process makes that backup. May still hold files of a process that was killed. */
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
      `${folder} cannot be used (${errorCode(error) || String(error)}): remove it if it is there, or name another place`,
    );
  }
}

/**
 * Removes only what is made there: the folder may have existed before. The lock file is removed last: once it is gone
 * another process can lock the folder.
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
  if (existsSync(target)) {
    throw new BackupError(
      `${target} is there already: name a file that is not, nothing is overwritten`,
    );
  }
  const folder = dirname(target);
  if (!existsSync(folder)) {
    throw new BackupError(`there is no folder ${folder}: create it, or name another place`);
  }
  const needed = sizeOf(path) + sizeOf(`${path}-wal`) + ROOM_LEFT_BYTES;
  const free = freeBytesIn(folder);
  if (free < needed) {
    throw new BackupError(
      `${folder} has too little room for a backup (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): make room, or name another place`,
    );
  }
}

/** Makes a consistent copy of a live database without blocking its writers. Blocks this thread. */
export function copyDatabase(path: string, target: string): void {
  const { sqlite } = openReader(path);
  try {
    // The connection is read-only anyway, and query_only would refuse VACUUM INTO.
    sqlite.run("PRAGMA query_only = OFF");
    sqlite.query("VACUUM INTO ?").run(target);
  } finally {
    sqlite.close();
  }
}

/** Checks the pages and then the content of a copy. Throws BackupError for the first problem. */
export async function verifyCopy(file: string): Promise<Verification> {
  const sqlite = new Database(file, { readonly: true });
  try {
    checkPages(sqlite, file);
    const verification = await verify(connectionOf(sqlite, file));
    const [first] = verification.problems;
    if (first) {
      throw new BackupError(
        `${file} does not add up (${counted(verification.problemCount, "problem")}, ${first.subject}: ${first.problem}): run \`reseller verify\``,
      );
    }
    return verification;
  } finally {
    sqlite.close(true);
  }
}

/**
 * The same of a backup that may be of an older version: only its pages then, for its schema is not this binary's. Throws
 * OpenError too.
 */
export async function verifyBackup(file: string): Promise<void> {
  try {
    const sqlite = new Database(file, { readonly: true });
    try {
      if (pendingMigrations(sqlite, file).length > 0) return checkPages(sqlite, file);
    } finally {
      sqlite.close();
    }
    await verifyCopy(file);
  } catch (error) {
    throw openErrorOf(error, file) ?? error;
  }
}

function checkPages(sqlite: Database, file: string): void {
  const { quick_check: found } = sqlite.query("PRAGMA quick_check(1)").get() as {
    quick_check: string;
  };
  if (found !== "ok") throw new BackupError(`${file} is damaged: ${found}`);
}

/** Syncs a finished copy and gives it its name, unless that is taken. */
export function publishCopy(copy: string, target: string): void {
  syncPath(copy);
  try {
    giveName(copy, target);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    throw new BackupError(`${target} is there already: nothing was overwritten`);
  }
  syncPath(dirname(target));
}

/** Throws EEXIST if the name is taken, without a race. */
function giveName(copy: string, target: string): void {
  try {
    return linkSync(copy, target);
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw error;
  }
  // The file system has no hard links: claim the name with an empty file, then rename over it. A process killed in
  // between leaves an empty file, which `restore` refuses.
  closeSync(openSync(target, "wx", 0o600));
  try {
    renameSync(copy, target);
  } catch (error) {
    rmSync(target);
    throw error;
  }
}

/**
 * Whether a file is a copy of this database, of any age: both were created in the same millisecond. Throws what SQLite
 * throws for a file that it cannot read.
 */
export function isCopyOf(file: string, path: string): boolean {
  const [createdAt, expected] = [file, path].map((database) => {
    const sqlite = new Database(database, { readonly: true });
    try {
      return sqlite.query("SELECT applied_at FROM migrations WHERE version = 1").values()[0]?.[0];
    } finally {
      sqlite.close();
    }
  });
  return createdAt !== undefined && createdAt === expected;
}
