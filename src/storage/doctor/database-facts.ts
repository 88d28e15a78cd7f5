// Reads the facts that `doctor` needs from a SQLite database.

import { CREDIT_KEYS, UNLIMITED_CREDIT_KEYS } from "../../db/users/keys.ts";
import { LIVE_ORDER_CONDITION, UNKNOWN_PLACEMENTS } from "../../db/orders/orders.ts";
import { OLDEST_DUE_POLL } from "../../db/delivery/polling.ts";
import { UNRECOGNIZED_NUMBERS } from "../../db/delivery/unrecognized-numbers.ts";
import { FAILED_WEBHOOKS } from "../../db/webhooks/webhook-figures.ts";
import type { RowFacts } from "./findings.ts";
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
  const { sqlite } = openReader(path);
  try {
    const pending = pendingMigrations(sqlite, path).length;
    const scalar = <T>(query: string): T => (sqlite.query(query).get() as { value: T }).value;
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
      unknownPlacements: scalar(`SELECT (${UNKNOWN_PLACEMENTS}) AS value`),
      unrecognizedNumbers: scalar(`SELECT (${UNRECOGNIZED_NUMBERS}) AS value`),
      oldestDuePollAt: scalar(`SELECT (${OLDEST_DUE_POLL} AND ${LIVE_ORDER_CONDITION}) AS value`),
      failedWebhooks: scalar(`SELECT (${FAILED_WEBHOOKS}) AS value`),
      creditKeys: scalar(`SELECT (${CREDIT_KEYS}) AS value`),
      unlimitedCreditKeys: scalar(`SELECT (${UNLIMITED_CREDIT_KEYS}) AS value`),
    };
  } finally {
    sqlite.close();
  }
}
