// How long a connection to a SQLite file waits for another connection's lock.

import type { Database } from "bun:sqlite";

const BUSY_TIMEOUT_MS = 10_000;

/** Makes the connection wait for locks of other connections, instead of failing at once. */
export function waitForLocks(sqlite: Database): void {
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}
