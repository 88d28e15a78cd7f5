// A backup of a live database: copied beside its target, verified, synced, renamed. Nothing is ever overwritten,
// and the orders meanwhile hardly notice.

import { constants, setPriority } from "node:os";
import { existsSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { BackupError, partialPath, publishCopy, refuseBackup } from "../db/backup.ts";
import { sizeOf } from "../db/files.ts";
import type { Verification } from "../db/verify.ts";

/**
 * Between two syncs of the growing copy. One sync of all of it at the end held up an order's own sync for 130 ms;
 * of a little at a time, for 15 to 30.
 */
const SYNC_MILLISECONDS = 5;

export interface ToCopyThread {
  path: string;
  partial: string;
}

export type FromCopyThread = { copied: true } | { verified: Verification } | { failed: string };

export interface Backup {
  file: string;
  bytes: number;
  seconds: number;
  users: number;
  orders: number;
  transfers: number;
}

export type BackupStep = "copying" | "verifying";

/** Runs at a low priority: this is for a process of its own. `thread` is where copy-thread.ts is. Throws BackupError. */
export async function backUp(
  thread: URL,
  path: string,
  target: string,
  onStep: (step: BackupStep, bytes: number) => void,
): Promise<Backup> {
  refuseBackup(path, target);
  const started = performance.now();
  const partial = partialPath(target);
  rmSync(partial, { force: true });
  setPriority(constants.priority.PRIORITY_LOW);
  try {
    const { users, orders, transfers } = await copyAndVerify(thread, path, partial, onStep);
    publishCopy(partial, target);
    const seconds = Math.round(performance.now() - started) / 1000;
    return { file: target, bytes: sizeOf(target), seconds, users, orders, transfers };
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

async function copyAndVerify(
  thread: URL,
  path: string,
  partial: string,
  onStep: (step: BackupStep, bytes: number) => void,
): Promise<Verification> {
  const { promise, resolve, reject } = Promise.withResolvers<Verification>();
  let step: BackupStep = "copying";
  let ended = false;
  const worker = new Worker(thread);
  worker.onmessage = ({ data }: MessageEvent<FromCopyThread>) => {
    if ("copied" in data) step = "verifying";
    else if ("verified" in data) resolve(data.verified);
    else reject(new BackupError(`${path} was not backed up: ${data.failed}`));
  };
  worker.onerror = (event) =>
    reject(new BackupError(`${path} was not backed up: ${event.message}`));
  worker.postMessage({ path, partial } satisfies ToCopyThread);
  const syncing = syncWhile(
    partial,
    () => !ended,
    (bytes) => onStep(step, bytes),
  );
  try {
    return await promise;
  } finally {
    ended = true;
    await syncing;
    worker.terminate();
  }
}

/** Keeps what is unsynced of a growing file small. */
async function syncWhile(
  file: string,
  more: () => boolean,
  onSync: (bytes: number) => void,
): Promise<void> {
  while (more() && !existsSync(file)) await Bun.sleep(SYNC_MILLISECONDS);
  if (!more()) return;
  const handle = await open(file, "r");
  for (let before = -1; more(); await Bun.sleep(SYNC_MILLISECONDS)) {
    const { size } = await handle.stat();
    if (size !== before) await handle.datasync();
    before = size;
    onSync(size);
  }
  await handle.close();
}
