// A backup of a live database: copied beside its target, verified, synced, published. Nothing is ever overwritten, and
// orders are hardly slower meanwhile.

import { constants, setPriority } from "node:os";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { BackupError, openStaging, publishCopy, refuseBackup } from "./backup.ts";
import type { CheckpointMode } from "./checkpoint.ts";
import { sizeOf } from "./files.ts";
import type { Verification } from "../db/verify.ts";

/**
 * A growing copy is synced in parts: one fsync at the end delayed the commit of an order by 130 ms, many small ones delay
 * it by 15 to 30. Each of them flushes the disk's cache, which commits wait for too, so a copy that grows slowly, because
 * orders take the processor, is synced seldom.
 */
const SYNC_BYTES = 1024 * 1024;
/** Between two looks at the copy's size. */
const LOOK_MS = 5;

/** The threads of this process, where the system lists them. */
const THREADS = "/proc/self/task";

export interface ToCopyThread {
  path: string;
  partial: string;
  mode: CheckpointMode;
}

export type FromCopyThread =
  { copied: true } | { verified: Verification } | { warning: string } | { failed: string };

export interface Backup {
  file: string;
  bytes: number;
  seconds: number;
  users: number;
  orders: number;
  transfers: number;
}

export interface BackupEvents {
  /** Bytes copied so far. */
  onCopy: (bytes: number) => void;
  /** Something went wrong, but the backup is made. */
  onWarning: (warning: string) => void;
}

/** Lowers the priority of its process, which must do nothing else. `thread`: copy-thread.ts. Throws BackupError. */
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
    throw new BackupError(`another process is making ${target}: wait for its end, or name another`);
  }
  try {
    lowerPriority(onWarning);
    for (const end of ["", "-journal"]) rmSync(`${staging.copy}${end}`, { force: true });
    const { users, orders, transfers } = await copyAndVerify(
      thread,
      { path, partial: staging.copy, mode },
      { onCopy, onWarning },
    );
    publishCopy(staging.copy, target);
    const seconds = Math.round(performance.now() - started) / 1000;
    return { file: target, bytes: sizeOf(target), seconds, users, orders, transfers };
  } finally {
    staging.end();
  }
}

/**
 * Of this process. Only a warning on failure: some sandboxes forbid it. On Linux a priority is a thread's, and those that
 * compile began before this.
 */
export function lowerPriority(onWarning: (warning: string) => void): void {
  try {
    for (const thread of existsSync(THREADS) ? readdirSync(THREADS) : ["0"]) lower(Number(thread));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onWarning(
      `the priority could not be lowered, orders may take longer while a backup is made or copied (${why})`,
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

async function copyAndVerify(
  thread: URL,
  message: ToCopyThread,
  { onCopy, onWarning }: BackupEvents,
): Promise<Verification> {
  const { path, partial } = message;
  const { promise, resolve, reject } = Promise.withResolvers<Verification>();
  const fail = (why: string) => reject(new BackupError(`${path} was not backed up: ${why}`));
  let copying = true;
  let ended = false;
  const worker = new Worker(thread);
  worker.onmessage = ({ data }: MessageEvent<FromCopyThread>) => {
    if ("copied" in data) copying = false;
    else if ("warning" in data) onWarning(data.warning);
    else if ("verified" in data) resolve(data.verified);
    else fail(data.failed);
  };
  worker.onerror = (event) => fail(event.message);
  worker.addEventListener("close", () => fail("its thread ended early"));
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

/** Syncs a growing file again and again, so that little of it is ever unsynced. */
async function syncWhile(
  file: string,
  isGrowing: () => boolean,
  onLook: (bytes: number) => void,
): Promise<void> {
  while (isGrowing() && !existsSync(file)) await Bun.sleep(LOOK_MS);
  if (!isGrowing()) return;
  await using handle = await open(file, "r");
  for (let synced = 0; isGrowing(); await Bun.sleep(LOOK_MS)) {
    const { size } = await handle.stat();
    onLook(size);
    if (size < synced + SYNC_BYTES) continue;
    await handle.datasync();
    synced = size;
  }
}
