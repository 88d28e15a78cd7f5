// The folder of the server's backups. It may hold anything else as well, other services' backups among it: what is
// listed, counted and removed bears this installation's id in its name.

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { isCopyOf, openStaging, STAGING_SUFFIX } from "./backup.ts";
import { readInstanceId } from "./instance.ts";

/** A file of 1 GB that goes at once holds up the syncs of others for 300 ms; it is cut off in steps of 32 MiB. */
const REMOVE_STEP_BYTES = 32 * 1024 * 1024;
const REMOVE_PAUSE_MS = 5;
/** The time first: names sort by it, whoever made the files. */
const NAME = /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)-([a-z][0-9a-z]{11})\.db$/;
/** As they were named before the id was, and how an unfinished one was. */
const OLDER_NAME =
  /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.db(\.partial(?:-journal)?)?$/;

export interface BackupFile {
  file: string;
  /** By its name. */
  begunAt: number;
}

/** The newest backup that the server on this data directory made; null without one. */
export function newestBackup(data: string, folder: string, now: number): BackupFile | null {
  const instance = readInstanceId(data);
  return instance === null ? null : (listBackups(folder, instance, now)[0] ?? null);
}

/** Newest first. Those with a time that is still to come were named by a wrong clock: they count as the oldest. */
export function listBackups(folder: string, instance: string, now: number): BackupFile[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NAME.exec(entry.name)?.[2] === instance)
    .map(({ name }) => ({ file: join(folder, name), begunAt: timeOf(name) }))
    .sort((one, other) => other.begunAt - one.begunAt);
  const isToCome = ({ begunAt }: BackupFile) => begunAt > now;
  return [...files.filter((file) => !isToCome(file)), ...files.filter(isToCome)];
}

/** The path of a backup that is begun now. Creates the folder. */
export function nextBackup(folder: string, instance: string, now: number): string {
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }
  return join(folder, nameOf(new Date(now).toISOString().replace(/[:.]/g, "-"), instance));
}

/** Removes what backups of this installation left that were killed. */
export async function removeRemains(folder: string, instance: string): Promise<void> {
  const targets = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(STAGING_SUFFIX))
    .map((name) => name.slice(0, -STAGING_SUFFIX.length))
    .filter((target) => NAME.exec(target)?.[2] === instance);
  await forEach(targets, (target) => withStaging(join(folder, target), () => {}));
}

/** Removes all but the newest few of this installation, and never `made`, the one that just was. */
export async function removeOutdated(
  folder: string,
  instance: string,
  keep: number,
  made: string | null,
): Promise<void> {
  const others = listBackups(folder, instance, Date.now()).filter(({ file }) => file !== made);
  await forEach(others.slice(made === null ? keep : keep - 1), ({ file }) =>
    // Half removed it must not pass for a backup.
    withStaging(file, (copy) => renameSync(file, copy)),
  );
}

/**
 * Gives the backups of this database that were named before the id was their name of today. Returns what else has
 * such a name: of another database, unfinished or unreadable.
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
    // Damaged, or not for us to read: nothing that we may remove one day.
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

/** One that cannot be removed does not keep the others. */
async function forEach<T>(all: readonly T[], remove: (one: T) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const one of all) {
    await remove(one).catch((error: unknown) => failures.push(String(error)));
  }
  if (failures.length > 0) throw new Error(failures.join("; "));
}

/** Removes the folder in which a backup was made, after `fill`; nothing while another process makes one there. */
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

/** Not a file that has another name as well: the backup that was just named, or somebody's snapshot. */
async function truncateSlowly(file: string): Promise<void> {
  await using handle = await open(file, "r+");
  const { size, nlink } = await handle.stat();
  for (let left = size; left > 0 && nlink === 1; left -= REMOVE_STEP_BYTES) {
    await handle.truncate(Math.max(0, left - REMOVE_STEP_BYTES));
    await Bun.sleep(REMOVE_PAUSE_MS);
  }
}
