// The folder of the server's backups. It may hold other files, such as backups of other installations. Only files with
// this installation's id in their names are listed, counted and removed (backup-removal.ts).

import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { backupNameOf, backupTimeOf, isBackupOf, isVerifiedName } from "./backup-names.ts";
import { readInstanceId } from "../file/instance.ts";

export interface BackupFile {
  file: string;
  /** Time from the file name, in milliseconds since 1970. */
  begunAt: number;
  /** From the file name: false if `verify` found problems when the backup was made. */
  isVerified: boolean;
}

/** The newest backup and the newest verified backup that the server on this data directory made. */
export interface NewestBackups {
  newest: BackupFile | null;
  verified: BackupFile | null;
}

export function newestBackups(data: string, folder: string, now: number): NewestBackups {
  const instance = readInstanceId(data);
  const backups = instance === null ? [] : listBackups(folder, instance, now);
  return {
    newest: backups[0] ?? null,
    verified: backups.find(({ isVerified }) => isVerified) ?? null,
  };
}

/**
 * Returns the installation's backups, newest first. Times in the future come from a wrong clock, so those backups
 * count as the oldest.
 */
export function listBackups(folder: string, instance: string, now: number): BackupFile[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && isBackupOf(instance, entry.name))
    .map(({ name }) => ({
      file: join(folder, name),
      begunAt: backupTimeOf(name),
      isVerified: isVerifiedName(name),
    }));
  return newestFirst(files, now);
}

/** Sorts newest first. Times in the future come from a wrong clock and count as the oldest. */
export function newestFirst<T extends { begunAt: number }>(all: readonly T[], now: number): T[] {
  const sorted = all.toSorted((one, other) => other.begunAt - one.begunAt);
  const isInFuture = ({ begunAt }: T) => begunAt > now;
  return [...sorted.filter((one) => !isInFuture(one)), ...sorted.filter(isInFuture)];
}

/**
 * Returns the entries to remove: those after the first `keep`, except the newest verified one. So the last verified
 * backup stays, even if many with problems follow it.
 */
export function outdated<T extends { isVerified: boolean }>(all: readonly T[], keep: number): T[] {
  const verified = all.find(({ isVerified }) => isVerified);
  return all.slice(keep).filter((each) => each !== verified);
}

/** Returns the path of a backup that begins now. Creates the folder. */
export function nextBackup(folder: string, instance: string, now: number): string {
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }
  return join(folder, backupNameOf(new Date(now).toISOString().replace(/[:.]/g, "-"), instance));
}
