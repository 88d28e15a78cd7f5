// A lock that belongs to a process: SQLite's exclusive lock on a file of its own. The kernel frees it when the
// process ends, however it ends.

import { constants, Database } from "bun:sqlite";
import { chmodSync } from "node:fs";
import { errorCode } from "../domain/errors.ts";

export interface Lock {
  release(): void;
}

/** Null where another process holds it. */
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

/** Whether the file was removed between its opening and its locking, by the process that held it before. */
function hasMoved(lock: Database): boolean {
  const answer = new Int32Array(2);
  lock.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, answer);
  return answer[0] !== 0;
}
