// Files: size, free disk space, fsync.

import { closeSync, fsyncSync, openSync, type Stats, statfsSync, statSync } from "node:fs";
import { errorCode } from "../domain/refusals.ts";

/** fsync of a file, or of a folder after a file in it was created or renamed, so that it survives a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Why a path is not a regular file; null for one, and when nothing is there. To be called before SQLite opens it: opening
 * a FIFO without a writer blocks for ever, and a folder gives the error of a failing disk.
 */
export function whyNoFile(path: string): string | null {
  const found = statOf(path);
  if (!found || found.isFile()) return null;
  return found.isDirectory() ? `${path} is a folder` : `${path} is not a regular file`;
}

/** The same, also of a path below a folder that this user may not look into. */
export function whyNoReachableFile(path: string): string | null {
  try {
    return whyNoFile(path);
  } catch (error) {
    return `${path} cannot be reached by this user (${errorCode(error)})`;
  }
}

/** Undefined when it does not exist, or when its folder is a file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** 0 when it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Bytes that this process may still write. */
export function freeBytesIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
