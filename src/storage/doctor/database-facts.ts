// Reads the facts that `doctor` needs from a SQLite database.

import type { Database } from "bun:sqlite";
import { readRowFacts, type RowFacts } from "../../db/port/row-facts.ts";
import { whyNoReachableFile } from "../file/files.ts";
import { hasLitestream } from "../file/litestream.ts";
import { pendingMigrations } from "../file/migrate.ts";
import { openReader } from "../file/open.ts";
import { OpenError } from "../file/open-error.ts";
import { schemaDifferences } from "../file/schema-check.ts";

export interface DatabaseFacts extends RowFacts {
  /** The first row of PRAGMA quick_check: `ok`, or the first problem. */
  integrity: string;
  /** Number of this program's migrations that the database lacks. */
  pendingMigrations: number;
  /** The differences between its schema and that of its migrations; empty if there are none. */
  schemaDifferences: string;
  /** Whether Litestream replicates the database, or once did. */
  hasLitestream: boolean;
}

/**
 * Reads the facts without writing. Throws OpenError, also for a database that is newer or another program's. Throws
 * SQLite's error for a file that SQLite cannot read.
 */
export function factsOf(path: string): DatabaseFacts {
  const why = whyNoReachableFile(path);
  if (why) throw new OpenError(why);
  const { sqlite, store } = openReader(path);
  try {
    const pending = pendingMigrations(sqlite, path).length;
    return {
      pendingMigrations: pending,
      schemaDifferences: schemaDifferences(sqlite),
      hasLitestream: hasLitestream(sqlite),
      integrity: quickCheck(sqlite),
      ...store.read((reader) => readRowFacts(reader, Date.now())),
    };
  } finally {
    sqlite.close();
  }
}

function quickCheck(sqlite: Database): string {
  const [[found]] = sqlite.query("PRAGMA quick_check(1)").values() as [[string]];
  return found;
}
