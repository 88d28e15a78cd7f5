// What `doctor` asks the database itself.

import { Database } from "bun:sqlite";
import { OLDEST_DUE_POLL } from "../db/polling.ts";
import { whyNoFile } from "./files.ts";
import { pendingMigrations } from "./migrate.ts";
import { OpenError } from "./open-error.ts";
import { schemaDifferences } from "./schema-check.ts";

export interface DatabaseFacts {
  /** What the pages and indexes have to say: `ok`, or the first trouble. */
  integrity: string;
  /** How many migrations of this binary it lacks. Throws OpenError for a newer or foreign database. */
  pendingMigrations: number;
  /** How its schema differs from what its migrations make; empty when it does not. */
  schemaDifferences: string;
  /** The latest time that any row bears, in milliseconds; null without a row. */
  lastRowAt: number | null;
  /** Orders of which nobody knows whether their provider has them. */
  unknownPlacements: number;
  /** OLDEST_DUE_POLL of the orders of all providers. */
  oldestDuePollAt: number | null;
}

/** Reads only. Throws OpenError, or what SQLite throws for a file it cannot read. */
export function factsOf(path: string): DatabaseFacts {
  const why = whyNoFile(path);
  if (why) throw new OpenError(why);
  const sqlite = new Database(path, { readonly: true });
  try {
    sqlite.run("PRAGMA busy_timeout = 10000");
    const pending = pendingMigrations(sqlite, path).length;
    const one = <T>(query: string): T => (sqlite.query(query).get() as { value: T }).value;
    const follows = one<number>(
      "SELECT count(*) AS value FROM pragma_table_info('orders') WHERE name = 'next_check_at'",
    );
    return {
      pendingMigrations: pending,
      schemaDifferences: schemaDifferences(sqlite),
      integrity: one("SELECT quick_check AS value FROM pragma_quick_check LIMIT 1"),
      lastRowAt:
        one(`SELECT max(
          coalesce((SELECT created_at FROM transfers ORDER BY seq DESC LIMIT 1), 0),
          coalesce((SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1), 0),
          coalesce((SELECT max(created_at) FROM users), 0)) AS value`) || null,
      unknownPlacements: follows
        ? one(
            "SELECT count(*) AS value FROM orders WHERE placement = 'unknown' AND status = 'PENDING'",
          )
        : 0,
      oldestDuePollAt: follows ? one(`SELECT (${OLDEST_DUE_POLL}) AS value`) : null,
    };
  } finally {
    sqlite.close();
  }
}
