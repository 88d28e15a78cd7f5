// Copies of the database: made from a live one, checked, and put in place so that a name only ever stands for a
// whole, synced and verified file.

import { Database } from "bun:sqlite";
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { connectionOf } from "./connection.ts";
import { freeRoom, mebibytes, sizeOf, syncPath } from "./files.ts";
import { openReader } from "./open.ts";
import { verify, type Verification } from "./verify.ts";

/** Room that is left alone on the disk of a backup: the database needs some itself. */
const ROOM_LEFT_BYTES = 64 * 1024 * 1024;

/** A copy that was not made or cannot be used. The message is one sentence for the operator. */
export class BackupError extends Error {
  override name = "BackupError";
}

/** Where a copy grows before it has its name. */
export function partialPath(target: string): string {
  return `${target}.partial`;
}

/** Refuses a target that is there already, has no folder, or no room for the database. */
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
  const free = freeRoom(folder);
  if (free < needed) {
    throw new BackupError(
      `${folder} has too little room for a backup (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): make room, or name another place`,
    );
  }
}

/** One consistent copy of a live database, without keeping its writers waiting. Blocks this thread until it is done. */
export function copyDatabase(path: string, target: string): void {
  const { sqlite } = openReader(path);
  try {
    // Reading only as it is opened; this pragma takes the target for a change.
    sqlite.run("PRAGMA query_only = OFF");
    sqlite.query("VACUUM INTO ?").run(target);
  } finally {
    sqlite.close();
  }
}

/** Checks a copy from its pages to its sums. Throws BackupError when something is off. */
export function verifyCopy(file: string): Verification {
  const sqlite = new Database(file, { readonly: true });
  try {
    const { quick_check: found } = sqlite.query("PRAGMA quick_check(1)").get() as {
      quick_check: string;
    };
    if (found !== "ok") throw new BackupError(`${file} is damaged: ${found}`);
    const verification = verify(connectionOf(sqlite, file));
    const [first] = verification.problems;
    if (first) {
      throw new BackupError(
        `${file} does not add up (${verification.problemCount} problems, ${first.subject}: ${first.problem}): run \`reseller verify\``,
      );
    }
    return verification;
  } finally {
    sqlite.close();
  }
}

/** Syncs a finished copy and gives it its name, if that is still free. */
export function publishCopy(partial: string, target: string): void {
  syncPath(partial);
  try {
    linkSync(partial, target);
    rmSync(partial);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EEXIST")
      throw new BackupError(`${target} is there already: nothing was overwritten`);
    // A file system without links: the name was free when the copy began.
    renameSync(partial, target);
  }
  syncPath(dirname(target));
}
