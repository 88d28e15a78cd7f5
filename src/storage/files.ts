// Files as the disk sees them: how large, how much room, and whether they survive a power cut.

import { closeSync, fsyncSync, openSync, type Stats, statfsSync, statSync } from "node:fs";
import { errorCode } from "../domain/errors.ts";

/** Makes what was written to a file, or entered in a folder, survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * What is wrong with a path that should be a file; null for a file, and where there is nothing. To be asked before
 * SQLite opens it: a FIFO without a writer blocks that for ever, and a folder looks like a failing disk.
 */
export function whyNoFile(path: string): string | null {
  const found = statOf(path);
  if (!found || found.isFile()) return null;
  return found.isDirectory() ? `${path} is a folder` : `${path} is not a regular file`;
}

/** Undefined where there is nothing, also for what is below a file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** 0 when it is not there. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Bytes that this process may still fill. */
export function freeBytesIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
