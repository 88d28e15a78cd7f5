// Verifies a SQLite database: runs the checks of both engines (db/verify/), compares the schema with the migrations,
// and checks the file. Only reads, and can run beside a server. docs/specification/storage.md#verify

import type { Connection } from "../../db/sqlite/connection.ts";
import { type Check, queryCheck, runChecks, type Verification } from "../../db/verify/verify.ts";
import { STEPS_IN_ROWS } from "../../db/sqlite/clock-steps.ts";
import { QUERY_CHECKS } from "../../db/verify/verify-queries.ts";
import { SCAN_CHECKS } from "../../db/verify/verify-scans.ts";
import { SCHEMA_CHECK, schemaProblems } from "../file/schema-check.ts";
import { errorCode } from "../../domain/values/error-table.ts";

/** Errors that say nothing about the database: a later verification may succeed. */
const TEMPORARY_ERRORS = ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_NOMEM", "SQLITE_FULL"];
/** Page cache: 64 MiB, because PRAGMA integrity_check alternates between tables and indexes. */
const CACHE_KIB = 64 * 1024;

const SQLITE_CHECKS: readonly Check[] = [
  queryCheck(
    "every time that the clock was set back is recorded",
    `SELECT ledger || ' ' || first AS subject, 'its time is before that of the previous row' AS problem
    FROM (${STEPS_IN_ROWS} EXCEPT SELECT ledger, first, time, time_before FROM clock_steps)`,
  ),
  queryCheck(
    "every reference points to an existing row",
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

/** Verifies a database. Calls `progress` with the number of completed checks. Each statement reads its own snapshot. */
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
    // The other checks continue after a damaged page, a missing table, or a value that no check expects.
    isUnreadable: (error) => !TEMPORARY_ERRORS.some((code) => errorCode(error).startsWith(code)),
    progress,
  });
}
