// The folder of the server's backups. It may hold other files, such as backups of other services: only files with this
// installation's id in their names are listed, counted and removed.

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { isCopyOf, openStaging, STAGING_SUFFIX } from "./backup.ts";
import { readInstanceId } from "./instance.ts";

/** Unlinking a file of 1 GB delays the fsyncs of others by 300 ms, so it is truncated in steps of 32 MiB first. */
const REMOVE_STEP_BYTES = 32 * 1024 * 1024;
const REMOVE_PAUSE_MS = 5;
/** The time comes first, so that names sort by it across installations. */
const NAME = /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)-([a-z][0-9a-z]{11})\.db$/;
/** The names of an older version, without the id; with a suffix: an unfinished backup. */
const OLDER_NAME =
  /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.db(\.partial(?:-journal)?)?$/;

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
    .filter((entry) => entry.isFile() && NAME.exec(entry.name)?.[2] === instance)
    .map(({ name }) => ({ file: join(folder, name), begunAt: timeOf(name) }));
  return newestFirst(files, now);
}

/** A time in the future is from a wrong clock: it counts as the oldest. */
export function newestFirst<T extends { begunAt: number }>(all: readonly T[], now: number): T[] {
  const sorted = all.toSorted((one, other) => other.begunAt - one.begunAt);
  const isInFuture = ({ begunAt }: T) => begunAt > now;
  return [...sorted.filter((one) => !isInFuture(one)), ...sorted.filter(isInFuture)];
}

/** The installation and the time in the file name of a backup; null for another name. */
export function parseBackupName(name: string): { instance: string; begunAt: number } | null {
  const instance = NAME.exec(name)?.[2];
  return instance === undefined ? null : { instance, begunAt: timeOf(name) };
}

/** The path of a backup that begins now. Creates the folder. */
export function nextBackup(folder: string, instance: string, now: number): string {
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }
  return join(folder, nameOf(new Date(now).toISOString().replace(/[:.]/g, "-"), instance));
}

/** Removes the staging folders of this installation's backups that were killed. */
export async function removeRemains(folder: string, instance: string): Promise<void> {
  const targets = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(STAGING_SUFFIX))
    .map((name) => name.slice(0, -STAGING_SUFFIX.length))
    .filter((target) => NAME.exec(target)?.[2] === instance);
  await removeEach(targets, (target) => withStaging(join(folder, target), () => {}));
}

/**
 * Removes all but the `keep` newest backups of this installation; never `made`, the one that was just made, nor `inUse`,
 * the one that is being copied off-site.
 */
export async function removeOutdated(
  folder: string,
  instance: string,
  keep: number,
  made: string | null,
  inUse: string | null = null,
): Promise<void> {
  const others = listBackups(folder, instance, Date.now()).filter(
    ({ file }) => file !== made && file !== inUse,
  );
  await removeEach(others.slice(made === null ? keep : keep - 1), ({ file }) =>
    // Renamed first: a partly removed file must not have the name of a backup.
    withStaging(file, (copy) => renameSync(file, copy)),
  );
}

/**
 * Renames backups of this database that an older version named. Returns the other files with such a name: of another
 * database, unfinished or unreadable.
 */
export function adoptOlderBackups(folder: string, instance: string, path: string): string[] {
  const left: string[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, time, unfinished] = OLDER_NAME.exec(name) ?? [];
    if (time === undefined) continue;
    const file = join(folder, name);
    if (unfinished === undefined && isOurs(file, path)) {
      renameSync(file, join(folder, nameOf(time, instance)));
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

function nameOf(time: string, instance: string): string {
  return `reseller-${time}-${instance}.db`;
}

function timeOf(name: string): number {
  const [date, time] = NAME.exec(name)![1]!.split("T");
  const [hours, minutes, seconds, milliseconds] = time!.replace("Z", "").split("-");
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}

/** Goes on after a failure, and throws all failures at the end. */
async function removeEach<T>(all: readonly T[], remove: (one: T) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const one of all) {
    await remove(one).catch((error: unknown) => failures.push(String(error)));
  }
  if (failures.length > 0) throw new Error(failures.join("; "));
}

/** Runs `fill`, then removes the staging folder of `target`. Does nothing while another process makes a backup there. */
async function withStaging(target: string, fill: (copy: string) => void): Promise<void> {
  const staging = openStaging(target);
  if (!staging) return;
  try {
    fill(staging.copy);
    if (existsSync(staging.copy)) await truncateSlowly(staging.copy);
  } finally {
    staging.end();
  }
}

/** Not a file with other hard links, such as a backup that was just published, or a snapshot. */
async function truncateSlowly(file: string): Promise<void> {
  await using handle = await open(file, "r+");
  const { size, nlink } = await handle.stat();
  for (let left = size; left > 0 && nlink === 1; left -= REMOVE_STEP_BYTES) {
    await handle.truncate(Math.max(0, left - REMOVE_STEP_BYTES));
    await Bun.sleep(REMOVE_PAUSE_MS);
  }
}
