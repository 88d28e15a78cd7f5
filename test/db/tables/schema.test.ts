// The tables of src/db/tables/, the files of migrations/ and MIGRATIONS agree.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { MIGRATIONS as POSTGRES_MIGRATIONS } from "../../../src/db/postgres/schema/migrate.ts";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";
import { catalogueVersion } from "../../../src/db/tables/catalogue.ts";
import { clockSteps, numberFloors } from "../../../src/db/tables/database.ts";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { requiredStatusLists, statusListsIn } from "../../support/databases/schema-statuses.ts";

function migrated(): Database {
  const sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS, 0);
  return sqlite;
}

test.each([
  ["sqlite", MIGRATIONS],
  ["postgres", POSTGRES_MIGRATIONS],
])(
  "every file of migrations/%s/ is in MIGRATIONS, in order, with its text",
  (engine, migrations) => {
    const folder = new URL(`../../../migrations/${engine}/`, import.meta.url).pathname;
    const files = readdirSync(folder).toSorted();
    expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files);
    expect(migrations.map(({ sql }) => sql)).toEqual(
      files.map((name) => readFileSync(folder + name, "utf8")),
    );
    const versions = migrations.map(({ version }) => version);
    expect(versions).toEqual(migrations.map(({ name }) => Number(name.slice(0, 4))));
    expect(versions).toEqual(versions.map((_, index) => index + 1));
  },
);

test("src/db/tables/ has exactly the tables and columns of a migrated database", () => {
  const sqlite = migrated();
  const inDatabase = sqlite
    .query(
      `SELECT t.name AS tableName, c.name, c.type, c."notnull" OR c.pk AS required
       FROM pragma_table_list t JOIN pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'migrations'
       ORDER BY 1, 2`,
    )
    .all();
  const inSchema = [...TABLES, clockSteps, numberFloors, catalogueVersion].flatMap((table) =>
    table.columns.map((column) => ({
      tableName: table.name,
      name: column.name,
      type: column.kind.name === "text" ? "TEXT" : "INTEGER",
      required: column.initial === null ? 0 : 1,
    })),
  );
  const key = (row: { tableName: string; name: string }) => `${row.tableName}.${row.name}`;
  const byKey = new Map(inSchema.map((row) => [key(row), row]));
  expect(inSchema.length).toBe(byKey.size);
  expect(inSchema.map(key).sort()).toEqual(inDatabase.map((row) => key(row as never)).sort());
  for (const row of inDatabase as (typeof inSchema)[number][]) {
    expect(byKey.get(key(row))).toMatchObject({ type: row.type, required: row.required });
  }
});

test("tables and columns are named as the program names them, in snake case", async () => {
  const snakeCase = (name: string) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const FOLDER = new URL("../../../src/db/tables/", import.meta.url).pathname;
  const wrong: string[] = [];
  let compared = 0;
  for (const file of readdirSync(FOLDER)) {
    const exported = (await import(FOLDER + file)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported)) {
      const table = value as Partial<AnyTable> | null;
      if (!table?.columns) continue;
      if (table.name !== snakeCase(name)) wrong.push(`${name}: ${table.name}`);
      for (const column of table.columns) {
        if (column.name !== snakeCase(column.field)) wrong.push(`${column.field}: ${column.name}`);
        compared += 1;
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(compared).toBeGreaterThan(300);
});

test("every table of a migrated database is STRICT", () => {
  const loose = migrated()
    .query(
      `SELECT name FROM pragma_table_list
       WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'`,
    )
    .all();
  expect(loose).toEqual([]);
});

test("the lists of statuses in checks, triggers and partial indexes follow the table of statuses", () => {
  const schema = migrated().query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").all();
  const texts = (schema as { sql: string }[]).map(({ sql }) => sql);
  expect(statusListsIn(texts)).toEqual(requiredStatusLists());
});
