// The folder of the server's backups. It may hold other files, such as backups of other services: only files with this
// installation's id in their names are listed, counted and removed (backup-removal.ts).

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { isCopyOf } from "./backup.ts";
import { isBackupOf, backupNameOf, OLDER_BACKUP_NAME, backupTimeOf } from "./backup-names.ts";
import { readInstanceId } from "./instance.ts";

export interface BackupFile {
  file: string;
  /** From its name. */
  begunAt: number;
}

/** The newest backup that the server on this data directory made; null without one. */
export function newestBackup(data: string, folder: string, now: number): BackupFile | null {
  const instance = readInstanceId(data);
  return instance === null ? null : (listBackups(folder, instance, now)[0] ?? null);
}

/** Newest first. A time in the future is from a wrong clock: such backups count as the oldest. */
export function listBackups(folder: string, instance: string, now: number): BackupFile[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && isBackupOf(instance, entry.name))
    .map(({ name }) => ({ file: join(folder, name), begunAt: backupTimeOf(name) }));
  return newestFirst(files, now);
}

/** A time in the future is from a wrong clock: it counts as the oldest. */
export function newestFirst<T extends { begunAt: number }>(all: readonly T[], now: number): T[] {
  const sorted = all.toSorted((one, other) => other.begunAt - one.begunAt);
  const isInFuture = ({ begunAt }: T) => begunAt > now;
  return [...sorted.filter((one) => !isInFuture(one)), ...sorted.filter(isInFuture)];
}

/** The path of a backup that begins now. Creates the folder. */
export function nextBackup(folder: string, instance: string, now: number): string {
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }
  return join(folder, backupNameOf(new Date(now).toISOString().replace(/[:.]/g, "-"), instance));
}

/**
 * Renames backups of this database that an older version named. Returns the other files with such a name: of another
 * database, unfinished or unreadable.
 */
export function adoptOlderBackups(folder: string, instance: string, path: string): string[] {
  const left: string[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, time, unfinished] = OLDER_BACKUP_NAME.exec(name) ?? [];
    if (time === undefined) continue;
    const file = join(folder, name);
    if (unfinished === undefined && isOurs(file, path)) {
      renameSync(file, join(folder, backupNameOf(time, instance)));
    } else {
      left.push(file);
    }
  }
  return left;
}

function isOurs(file: string, path: string): boolean {
  try {
    return isCopyOf(file, path);
  } catch {
    // Damaged or not readable: not renamed, so that it is never removed as outdated.
    return false;
  }
}
