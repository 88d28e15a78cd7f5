// Whether the database takes writes, found out by writing.

import type { Tx } from "../db/connection.ts";

/** Writes a page that says what it said before: it needs room and a sync as any other write does. */
export function probe(tx: Tx): null {
  tx.sqlite.run("PRAGMA user_version = 0");
  return null;
}
