// A write without effect: whether the database is writable.

import { type Tx, touchDatabase } from "../db/sqlite/connection.ts";

/** Needs disk space and an fsync, as any other write does, and changes nothing. */
export function probe(tx: Tx): null {
  touchDatabase(tx);
  return null;
}
