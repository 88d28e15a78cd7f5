// Verifies a SQLite database: the checks of every engine (db/verify*.ts), the schema against the migrations, and what only
// a file of SQLite has. docs/specification.md#verify. Reads only, also while a server runs.

import type { Connection } from "../db/sqlite/connection.ts";
import { type Check, queryCheck, runChecks, type Verification } from "../db/verify.ts";
import { QUERY_CHECKS } from "../db/verify-queries.ts";
import { SCAN_CHECKS } from "../db/verify-scans.ts";
import { SCHEMA_CHECK, schemaProblems } from "./schema-check.ts";
import { errorCode } from "../domain/refusals.ts";

/** 64 MiB: PRAGMA integrity_check reads tables and indexes in turn. */
const CACHE_KIB = 64 * 1024;

const SQLITE_CHECKS: readonly Check[] = [
  queryCheck(
    "every step of the clock is noted",
    `SELECT ledger || ' ' || number AS subject, 'its time is before that of the row ahead of it' AS problem
    FROM (
      SELECT 'orders' AS ledger, order_id AS number, created_at, lag(created_at) OVER (ORDER BY order_id) AS before
      FROM orders
      UNION ALL
      SELECT 'transfers', seq, created_at, lag(created_at) OVER (ORDER BY seq) FROM transfers
    ) AS rows
    WHERE created_at < before AND NOT EXISTS (
      SELECT 1 FROM clock_steps WHERE clock_steps.ledger = rows.ledger AND first = number)`,
  ),
  queryCheck(
    "references lead somewhere",
    `SELECT "table" || ' row ' || coalesce(rowid, '?') AS subject, 'refers to a missing row of ' || parent AS problem
    FROM pragma_foreign_key_check`,
  ),
  queryCheck(
    "the file is intact",
    `SELECT 'file' AS subject, integrity_check AS problem
    FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
  ),
];

/** The number of checks, for a progress display. */
export const CHECK_COUNT = 1 + QUERY_CHECKS.length + SQLITE_CHECKS.length + SCAN_CHECKS.length;

/** `progress` is called with the number of checks that are done. Each statement is a snapshot of its own. */
export function verify(
  { sqlite, store }: Connection,
  progress: (done: number) => void = () => {},
): Promise<Verification> {
  sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  const differences = schemaProblems(sqlite);
  const schema: Check = {
    name: SCHEMA_CHECK,
    run(_, findings) {
      for (const { subject, problem } of differences) findings.add(subject, problem);
    },
  };
  return runChecks(store, {
    checks: [schema, ...QUERY_CHECKS, ...SQLITE_CHECKS, ...SCAN_CHECKS],
    // A damaged page, or a table that a differing schema lacks: the other checks go on.
    isUnreadable(error) {
      const code = errorCode(error);
      return (
        code.startsWith("SQLITE_CORRUPT") || (differences.length > 0 && code === "SQLITE_ERROR")
      );
    },
    progress,
  });
}
