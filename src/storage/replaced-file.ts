// The database that a restore replaces, kept under another name. A process may be killed between any two steps, so the
// names in the data directory say how far it is:
//   reseller.db.before-restore-TIME.partial   being written while `restoring/reseller.db` is there, whole afterwards
//   reseller.db.before-restore-TIME           whole, and the restore is done: it stays
// A log that belongs to it, with the same name and `-wal`, goes with it.

import {
  copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync, statSync,
} from "node:fs"; // prettier-ignore
import { basename, dirname, join } from "node:path";
import { sizeOf, syncPath } from "./files.ts";

/** In the data directory: where a backup is made ready to become the database. Moving it from there is the commit. */
export const STAGING_FOLDER = "restoring";

const PARTIAL = /^(\.before-restore-[\dTZ-]+)\.partial(-wal)?$/;

/** Keeps the present database and takes its log away from `path`; to be settled. Returns the name that it will have. */
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
 * Only with the lock of the data directory. Names the database that a committed restore replaced; puts back what one
 * that did not get so far took, and clears what is left of it.
 */
export function settleReplaced(path: string): void {
  const folder = dirname(path);
  const staging = join(folder, STAGING_FOLDER);
  // The log before its database: until then this can be done again.
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
  // Last: it is what tells how far the restore was.
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

/** Two names of one file. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.dev === b?.dev && a.ino === b?.ino;
}
