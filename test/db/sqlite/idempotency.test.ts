// Idempotency records of an older schema.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import { IDEMPOTENCY_RETENTION_MS } from "../../../src/domain/values/idempotency.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";

test("idempotency records of an older schema are kept for a full term from the upgrade on", () => {
  const sqlite = new Database(":memory:");
  migrate(
    sqlite,
    MIGRATIONS.filter(({ version }) => version < 9),
    0,
  );
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run(
    `INSERT INTO idempotency (reseller_account, key, request_hash, order_id, created_at)
       VALUES (3, 'k', '${"0".repeat(64)}', 1, 0)`,
  );
  // Its order is not there, and no migration may mind what this test leaves out.
  sqlite.run(MIGRATIONS.find(({ version }) => version === 9)!.sql);
  const old = createSqliteStore(sqlite);
  let seen = 0;
  const after = (milliseconds: number) => {
    void execute(old, "addUptime", { milliseconds, seen }, Date.now());
    seen += milliseconds;
    return execute(old, "expireIdempotencyRecords", { limit: 10 }, Date.now());
  };
  expect([after(IDEMPOTENCY_RETENTION_MS), after(1)]).toEqual([0, 1]);
});
