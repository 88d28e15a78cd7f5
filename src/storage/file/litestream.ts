// Detects Litestream, a replicator beside the server that copies the write-ahead log and checkpoints it. If this
// program checkpoints too, a replica may not restore: docs/decisions/0008-checkpoints-outside-the-commit.md

import type { Database } from "bun:sqlite";

/** Returns whether Litestream has ever replicated this database. A restored replica has its tables too. */
export function hasLitestream(sqlite: Database): boolean {
  const found = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'").get();
  return found !== null;
}
