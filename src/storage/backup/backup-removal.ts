// Removes backups of this installation beyond the number to keep, and the remains of backups that were interrupted by a
// kill.

import { existsSync, readdirSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { openStaging, STAGING_SUFFIX } from "./copy.ts";
import { listBackups, outdated } from "./backup-folder.ts";
import { isBackupOf } from "./backup-names.ts";

/** Unlinking a file of 1 GB delays other fsyncs by 300 ms, so it is first truncated in steps of 32 MiB. */
const REMOVE_STEP_BYTES = 32 * 1024 * 1024;
const REMOVE_PAUSE_MS = 5;

/** Removes the staging folders of this installation's backups that were interrupted by a kill. */
export async function removeRemains(folder: string, instance: string): Promise<void> {
  const targets = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(STAGING_SUFFIX))
    .map((name) => name.slice(0, -STAGING_SUFFIX.length))
    .filter((target) => isBackupOf(instance, target));
  await removeEach(targets, (target) => withStaging(join(folder, target), () => {}));
}

/**
 * Removes all but the `keep` newest backups of this installation. It never removes `made`, the backup that was just
 * made, `inUse`, which is being copied off-site, or the newest verified one.
 */
export async function removeOutdated(
  folder: string,
  instance: string,
  keep: number,
  made: string | null,
  inUse: string | null = null,
): Promise<void> {
  const backups = listBackups(folder, instance, Date.now());
  const isMade = ({ file }: { file: string }) => file === made;
  // The backup that was just made counts as the newest, whatever the clock says.
  const newest = [...backups.filter(isMade), ...backups.filter((each) => !isMade(each))];
  const removed = outdated(
    newest.filter(({ file }) => file !== inUse || file === made),
    keep,
  );
  await removeEach(removed, ({ file }) =>
    // Renamed first: a partly removed file must not have the name of a backup.
    withStaging(file, (copy) => renameSync(file, copy)),
  );
}

/** Calls `remove` for each item. Continues after a failure, and throws all failures at the end. */
async function removeEach<T>(all: readonly T[], remove: (one: T) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  for (const one of all) {
    await remove(one).catch((error: unknown) => failures.push(String(error)));
  }
  if (failures.length > 0) throw new Error(failures.join("; "));
}

/** Runs `fill`, then removes the staging folder of `target`. Does nothing while another process makes that backup. */
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

/** Truncates a file in steps. Skips files with other hard links, such as a backup that was just published. */
async function truncateSlowly(file: string): Promise<void> {
  await using handle = await open(file, "r+");
  const { size, nlink } = await handle.stat();
  for (let left = size; left > 0 && nlink === 1; left -= REMOVE_STEP_BYTES) {
    await handle.truncate(Math.max(0, left - REMOVE_STEP_BYTES));
    await Bun.sleep(REMOVE_PAUSE_MS);
  }
}
