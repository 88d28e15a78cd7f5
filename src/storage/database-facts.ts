// What `doctor` reads from the database.

import { NO_TEST_ORDER, UNKNOWN_PLACEMENTS } from "../db/orders.ts";
import { OLDEST_DUE_POLL } from "../db/polling.ts";
import { UNRECOGNIZED_NUMBERS } from "../db/unrecognized-numbers.ts";
import { FAILED_WEBHOOKS } from "../db/webhook-figures.ts";
import type { RowFacts } from "./findings.ts";
import { whyNoReachableFile } from "./files.ts";
import { hasLitestream } from "./litestream.ts";
import { pendingMigrations } from "./migrate.ts";
import { openReader } from "./open.ts";
import { OpenError } from "./open-error.ts";
import { schemaDifferences } from "./schema-check.ts";

export interface DatabaseFacts extends RowFacts {
  /** The first row of PRAGMA quick_check: `ok`, or the first problem. */
  integrity: string;
  /** How many migrations of this binary it lacks. */
  pendingMigrations: number;
  /** How its schema differs from that of its migrations; empty when it does not. */
  schemaDifferences: string;
  /** Whether Litestream replicates it, or did. */
  hasLitestream: boolean;
}

/** Reads only. Throws OpenError, also for a newer or foreign database, or what SQLite throws for a file it cannot read. */
export function factsOf(path: string): DatabaseFacts {
  const why = whyNoReachableFile(path);
  if (why) throw new OpenError(why);
  const { sqlite } = openReader(path);
  try {
    const pending = pendingMigrations(sqlite, path).length;
    const scalar = <T>(query: string): T => (sqlite.query(query).get() as { value: T }).value;
    const hasPolling = scalar<number>(
      "SELECT count(*) AS value FROM pragma_table_info('orders') WHERE name = 'next_check_at'",
    );
    const hasWebhooks = scalar<number>(
      "SELECT count(*) AS value FROM sqlite_schema WHERE name = 'webhooks'",
    );
    const hasUnrecognized = scalar<number>(
      "SELECT count(*) AS value FROM sqlite_schema WHERE name = 'unrecognized_numbers'",
    );
    return {
      pendingMigrations: pending,
      schemaDifferences: schemaDifferences(sqlite),
      hasLitestream: hasLitestream(sqlite),
      integrity: scalar("SELECT quick_check AS value FROM pragma_quick_check LIMIT 1"),
      lastRowAt:
        scalar(`SELECT max(
          coalesce((SELECT created_at FROM transfers ORDER BY seq DESC LIMIT 1), 0),
          coalesce((SELECT created_at FROM orders ORDER BY order_id DESC LIMIT 1), 0),
          coalesce((SELECT max(created_at) FROM users), 0)) AS value`) || null,
      unknownPlacements: hasPolling ? scalar(`SELECT (${UNKNOWN_PLACEMENTS}) AS value`) : 0,
      unrecognizedNumbers: hasUnrecognized
        ? scalar(`SELECT (${UNRECOGNIZED_NUMBERS}) AS value`)
        : 0,
      oldestDuePollAt: hasPolling
        ? scalar(`SELECT (${OLDEST_DUE_POLL} AND ${NO_TEST_ORDER}) AS value`)
        : null,
      failedWebhooks: hasWebhooks ? scalar(`SELECT (${FAILED_WEBHOOKS}) AS value`) : 0,
    };
  } finally {
    sqlite.close();
  }
}
