// Backs up a live database: copies it beside its target (copy.ts, by VACUUM INTO in a thread), verifies, syncs and
// publishes the copy. Never overwrites a file, and hardly slows down orders.

import { constants, setPriority } from "node:os";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { BackupError } from "./backup-error.ts";
import { type CheckedCopy, openStaging, publishCopy, refuseBackup } from "./copy.ts";
import { unverifiedName } from "./backup-names.ts";
import type { CheckpointMode } from "../file/checkpoint.ts";
import { sizeOf } from "../file/files.ts";

/**
 * Bytes after which a growing copy is synced. One fsync at the end delays orders by 130 ms, many small ones by 15 to
 * 30 ms each. Counting bytes, not time, keeps syncs rare while orders slow the copy down.
 */
const SYNC_BYTES = 1024 * 1024;
/** Pause between two looks at the size of the copy. */
const CHECK_MS = 5;

/** Folder that lists the threads of this process, on systems that have it. */
const THREADS = "/proc/self/task";

export interface ToCopyThread {
  path: string;
  partial: string;
  mode: CheckpointMode;
}

export type FromCopyThread =
  { copied: true } | { checked: CheckedCopy } | { warning: string } | { failed: string };

export interface Backup {
  /** The name shows whether the backup is verified. */
  file: string;
  verified: boolean;
  /** What is wrong with the backup; null if nothing is. */
  fault: string | null;
  bytes: number;
  seconds: number;
  users: number;
  orders: number;
  transfers: number;
}

export interface BackupEvents {
  /** Called with the bytes copied so far. */
  onCopy: (bytes: number) => void;
  /** Called for a problem that does not prevent the backup. */
  onWarning: (warning: string) => void;
}

/**
 * Makes a backup. If `verify` finds problems in it, keeps it under another name, so that one wrong row does not leave a
 * server without backups. Lowers the priority of its process, which must do nothing else. `thread`: the URL of
 * copy-thread.ts. Throws BackupError.
 */
export async function backUp(
  thread: URL,
  path: string,
  target: string,
  mode: CheckpointMode,
  { onCopy, onWarning }: BackupEvents,
): Promise<Backup> {
  refuseBackup(path, target);
  const started = performance.now();
  const staging = openStaging(target);
  if (!staging) {
    throw new BackupError(
      `another process is writing ${target}: wait for it to finish, or choose another file`,
    );
  }
  try {
    lowerPriority(onWarning);
    for (const end of ["", "-journal"]) rmSync(`${staging.copy}${end}`, { force: true });
    const { users, orders, transfers, fault } = await copyAndCheck(
      thread,
      { path, partial: staging.copy, mode },
      { onCopy, onWarning },
    );
    const verified = fault === null;
    const file = verified ? target : unverifiedName(target);
    publishCopy(staging.copy, file);
    const seconds = Math.round(performance.now() - started) / 1000;
    return { file, verified, fault, bytes: sizeOf(file), seconds, users, orders, transfers };
  } finally {
    staging.end();
  }
}

/**
 * Lowers the priority of this process. A failure is only a warning, because some sandboxes forbid it. On Linux each
 * thread has its own priority, and some threads, such as the compiler's, already run.
 */
export function lowerPriority(onWarning: (warning: string) => void): void {
  try {
    for (const thread of existsSync(THREADS) ? readdirSync(THREADS) : ["0"]) lower(Number(thread));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onWarning(
      `the priority could not be lowered; orders may be slower while a backup is made or copied (${why})`,
    );
  }
}

function lower(thread: number): void {
  try {
    setPriority(thread, constants.priority.PRIORITY_LOW);
  } catch (error) {
    const hasEnded = (error as { info?: { code?: string } }).info?.code === "ESRCH";
    if (!hasEnded) throw error;
  }
}

async function copyAndCheck(
  thread: URL,
  message: ToCopyThread,
  { onCopy, onWarning }: BackupEvents,
): Promise<CheckedCopy> {
  const { path, partial } = message;
  const { promise, resolve, reject } = Promise.withResolvers<CheckedCopy>();
  const fail = (why: string) => reject(new BackupError(`${path} was not backed up: ${why}`));
  let copying = true;
  let ended = false;
  const worker = new Worker(thread);
  worker.onmessage = ({ data }: MessageEvent<FromCopyThread>) => {
    if ("copied" in data) copying = false;
    else if ("warning" in data) onWarning(data.warning);
    else if ("checked" in data) resolve(data.checked);
    else fail(data.failed);
  };
  worker.onerror = (event) => fail(event.message);
  worker.addEventListener("close", () => fail("the copy thread ended early"));
  worker.postMessage(message);
  const syncing = syncWhile(
    partial,
    () => !ended,
    (bytes) => copying && onCopy(bytes),
  ).catch((error: unknown) => fail(String(error)));
  try {
    return await promise;
  } finally {
    ended = true;
    await syncing;
    worker.terminate();
  }
}

/** Syncs a growing file repeatedly, so that little of it is ever unsynced. */
async function syncWhile(
  file: string,
  isGrowing: () => boolean,
  onLook: (bytes: number) => void,
): Promise<void> {
  while (isGrowing() && !existsSync(file)) await Bun.sleep(CHECK_MS);
  if (!isGrowing()) return;
  await using handle = await open(file, "r");
  for (let synced = 0; isGrowing(); await Bun.sleep(CHECK_MS)) {
    const { size } = await handle.stat();
    onLook(size);
    if (size < synced + SYNC_BYTES) continue;
    await handle.datasync();
    synced = size;
  }
}
