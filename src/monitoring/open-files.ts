// The limit of this process for file descriptors.

import { readFileSync } from "node:fs";

/** Limit to assume for a process without a limit. */
const UNLIMITED_FILES = 1_048_576;
/** Limit to assume on systems without /proc. */
const UNKNOWN_FILES = 4096;

/** Returns the limit for file descriptors of this process. */
export function openFilesLimit(): number {
  try {
    return readOpenFilesLimit();
  } catch {
    return UNKNOWN_FILES;
  }
}

/** Throws on systems without /proc. */
export function readOpenFilesLimit(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? UNLIMITED_FILES);
}
