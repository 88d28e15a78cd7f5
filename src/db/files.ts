// Files as the disk sees them: how large, how much room, and whether they survive a power cut.

import { closeSync, fsyncSync, openSync, statfsSync, statSync } from "node:fs";

/** Makes what was written to a file, or entered in a folder, survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** 0 when it is not there. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Bytes that this process may still fill. */
export function freeRoom(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
