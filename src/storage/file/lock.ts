// A lock between processes: SQLite's exclusive lock on a lock file. The kernel releases it when the process ends,
// even when it is killed.

import { constants, Database } from "bun:sqlite";
import { chmodSync } from "node:fs";
import { errorCode } from "../../domain/values/error-table.ts";

export interface Lock {
  release(): void;
}

/** Takes the lock; returns null while another process holds it. */
export function takeLock(path: string): Lock | null {
  let lock: Database | undefined;
  try {
    lock = new Database(path, { readwrite: true, create: true });
    lock.run("BEGIN EXCLUSIVE");
    if (hasMoved(lock)) {
      lock.close();
      return null;
    }
    chmodSync(path, 0o600);
  } catch (error) {
    lock?.close();
    if (errorCode(error) === "SQLITE_BUSY") return null;
    throw error;
  }
  const held = lock;
  return { release: () => held.close() };
}

/** Returns whether the previous holder removed the file between this process's opening and locking it. */
function hasMoved(lock: Database): boolean {
  const moved = new Int32Array(2);
  lock.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, moved);
  return moved[0] !== 0;
}
