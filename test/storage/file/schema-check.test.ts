// The schema is compared with that of its migrations, at every version.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";
import { schemaProblems } from "../../../src/storage/file/schema-check.ts";
import { NEXT_MIGRATIONS } from "../../support/databases/next-version.ts";

test("a database of any version, migrated step by step and vacuumed, is what the migrations make", () => {
  const sqlite = new Database(":memory:");
  for (const migration of NEXT_MIGRATIONS.sqlite) {
    migrate(sqlite, [migration], 1);
    sqlite.run("VACUUM");
    expect(schemaProblems(sqlite, NEXT_MIGRATIONS.sqlite)).toEqual([]);
  }
  sqlite.close();
});

test("every object of every migration is checked: if one is missing, exactly that one is named", () => {
  const sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS, 1);
  const objects = sqlite
    .query<{ type: string; name: string }, []>(
      `SELECT type, name FROM sqlite_schema
      WHERE type IN ('trigger', 'index') AND name NOT GLOB 'sqlite_*' ORDER BY type, name`,
    )
    .all();
  expect(objects.length).toBeGreaterThan(30);
  for (const { type, name } of objects) {
    sqlite.run(`BEGIN; DROP ${type} ${name}`);
    expect(schemaProblems(sqlite)).toMatchObject([
      { subject: `${type} ${name}`, problem: "is missing" },
    ]);
    sqlite.run("ROLLBACK");
  }
  sqlite.close();
});
