// Keeps under another name the database that a restore replaces. A process may be killed between any two steps, so the
// names in the data directory show how far the restore got:
// - reseller.db.before-restore-TIME.partial: being written while `restoring/reseller.db` exists, complete afterwards.
// - reseller.db.before-restore-TIME: complete, and the restore is done; it stays. The log of that database, which has
//   the same name with `-wal`, is kept with it.

import {
  copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync, statSync,
} from "node:fs"; // prettier-ignore
import { basename, dirname, join } from "node:path";
import { sizeOf, syncPath } from "../file/files.ts";

/**
 * Folder in the data directory in which a backup is prepared. Moving it from there to the database commits a restore.
 */
export const STAGING_FOLDER = "restoring";

const PARTIAL = /^(\.before-restore-[\dTZ-]+)\.partial(-wal)?$/;

/**
 * Keeps the present database under a temporary name, and removes its log from `path`. settleReplaced completes this.
 * Returns the final name.
 */
export function keepReplaced(path: string, now: number): string {
  const kept = `${path}.before-restore-${new Date(now).toISOString().replace(/[:.]/g, "-")}`;
  const partial = `${kept}.partial`;
  linkOrCopy(path, partial);
  if (sizeOf(`${path}-wal`) > 0) linkOrCopy(`${path}-wal`, `${partial}-wal`);
  syncPath(dirname(path));
  rmSync(`${path}-wal`, { force: true });
  rmSync(`${path}-shm`, { force: true });
  return kept;
}

/**
 * Gives the replaced database its final name if the restore was committed. For a restore that was not committed, puts
 * back what it moved away and removes what it left. The caller must hold the lock of the data directory.
 */
export function settleReplaced(path: string): void {
  const folder = dirname(path);
  const staging = join(folder, STAGING_FOLDER);
  // Moves the log before its database: until the database is moved too, an interrupted run can be repeated.
  for (const name of readdirSync(folder).sort().reverse()) {
    if (!name.startsWith(basename(path))) continue;
    const [, kept, log] = PARTIAL.exec(name.slice(basename(path).length)) ?? [];
    if (kept === undefined) continue;
    const file = join(folder, name);
    const isCommitted =
      !existsSync(join(staging, basename(path))) && !isSame(`${path}${kept}.partial`, path);
    if (isCommitted) {
      renameSync(file, `${path}${kept}${log ?? ""}`);
    } else if (log !== undefined && !existsSync(`${path}-wal`)) {
      renameSync(file, `${path}-wal`);
    } else {
      rmSync(file);
    }
    syncPath(folder);
  }
  // Removed last, because this folder shows how far the restore got.
  rmSync(staging, { recursive: true, force: true });
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
  syncPath(to);
}

/** Returns whether two paths name the same file. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.dev === b?.dev && a.ino === b?.ino;
}
