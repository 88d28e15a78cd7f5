// Functions for files: kind, size, free disk space, fsync.

import { closeSync, fsyncSync, openSync, type Stats, statfsSync, statSync } from "node:fs";
import { errorCode } from "../../domain/values/error-table.ts";

/** Syncs a file, or a folder after a file in it was created or renamed, so that it survives a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns why a path is not a regular file; null if it is one or does not exist. Call it before SQLite opens the
 * path: opening a FIFO without a writer blocks forever, and a folder causes the error of a failing disk.
 */
export function whyNoFile(path: string): string | null {
  const found = statOf(path);
  if (!found || found.isFile()) return null;
  return found.isDirectory() ? `${path} is a folder` : `${path} is not a regular file`;
}

/** Like whyNoFile, also for a path below a folder that this user may not enter. */
export function whyNoReachableFile(path: string): string | null {
  try {
    return whyNoFile(path);
  } catch (error) {
    return `${path} is not accessible to this user (${errorCode(error)})`;
  }
}

/** Returns undefined if the path does not exist, or if its folder is a file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Returns the size in bytes; 0 if the file does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns the bytes that this process may still write. */
export function freeBytesIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
