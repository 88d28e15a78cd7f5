// Whether the database takes writes, found out by writing.

import { type Tx, touchDatabase } from "../db/connection.ts";

/** Needs room and a sync, as any other write does, and changes nothing. */
export function probe(tx: Tx): null {
  touchDatabase(tx);
  return null;
}
