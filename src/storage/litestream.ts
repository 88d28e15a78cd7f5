// Litestream, a replicator beside the server: it copies the write-ahead log and checkpoints it. Where this program does
// that too, a replica may not restore: docs/decisions/0034-checkpoints-by-a-replicator.md

import type { Database } from "bun:sqlite";

/** Whether Litestream has ever replicated this database. A restored replica has its tables too. */
export function hasLitestream(sqlite: Database): boolean {
  const found = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'").get();
  return found !== null;
}
