// Compares the schema of a database (tables, indexes, triggers, views) with that of its migrations. Triggers and
// constraints enforce the ledger and the state table. Without them wrong rows could be written that look right later.

import { Database } from "bun:sqlite";
import type { Migration } from "../../db/port/database-state.ts";
import { appliedVersions, migrate, MIGRATIONS } from "./migrate.ts";
import type { Problem } from "../../db/verify/verify.ts";

export const SCHEMA_CHECK = "the schema matches the migrations";

/**
 * SQL for the objects of a schema. Leaves out names that start with `sqlite_`, which are reserved for SQLite
 * (statistics, the indexes of constraints), and the tables in which Litestream keeps its position.
 */
const OBJECTS = `SELECT type || ' ' || name AS subject, sql FROM sqlite_schema
  WHERE name NOT GLOB 'sqlite_*' AND NOT (type = 'table' AND name GLOB '_litestream_*') ORDER BY type, name`;

/** Returns one problem for each object that is missing, differs, or belongs to no migration. */
export function schemaProblems(
  sqlite: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Problem[] {
  const expected = expectedObjects(appliedVersions(sqlite), migrations);
  const found = objectsOf(sqlite);
  const subjects = [...new Set([...expected.keys(), ...found.keys()])].sort();
  return subjects.flatMap((subject) => {
    const problem = problemOf(expected.get(subject), found.get(subject));
    return problem === null ? [] : [{ check: SCHEMA_CHECK, subject, problem }];
  });
}

/** Returns the problems of schemaProblems as text; empty if there are none. */
export function schemaDifferences(sqlite: Database): string {
  return schemaProblems(sqlite)
    .map(({ subject, problem }) => `${subject} ${problem}`)
    .join(", ");
}

function problemOf(expected: string | undefined, found: string | undefined): string | null {
  if (expected === found) return null;
  if (found === undefined) return "is missing";
  return expected === undefined ? "is not part of the migrations" : "differs from the migrations";
}

/** Expected objects by applied versions. They never change while the program runs. */
const made = new Map<string, ReadonlyMap<string, string>>();

function expectedObjects(
  versions: ReadonlySet<number>,
  migrations: readonly Migration[],
): ReadonlyMap<string, string> {
  const applied = migrations.filter(({ version }) => versions.has(version));
  const key = applied.map(({ version }) => version).join();
  const known = made.get(key);
  if (known) return known;
  const sqlite = new Database(":memory:");
  try {
    migrate(sqlite, applied, 0);
    const objects = objectsOf(sqlite);
    made.set(key, objects);
    return objects;
  } finally {
    sqlite.close();
  }
}

function objectsOf(sqlite: Database): Map<string, string> {
  const rows = sqlite.query<{ subject: string; sql: string | null }, []>(OBJECTS).all();
  return new Map(rows.map(({ subject, sql }) => [subject, normalized(sql ?? "")]));
}

const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|\s+|'(?:[^']|'')*'|"((?:[^"]|"")*)"|`([^`]*)`|[\w$]+|./gu;

/**
 * Returns SQL without comments, white space, upper case and quotes of identifiers: ALTER TABLE rewrites the text of a
 * schema, in different ways in different versions of SQLite.
 */
function normalized(sql: string): string {
  return [...sql.matchAll(TOKEN)]
    .map(([token, quoted, backquoted]) => {
      if (/^(--|\/\*|\s)/.test(token)) return "";
      return token.startsWith("'") ? token : (quoted ?? backquoted ?? token).toLowerCase();
    })
    .filter((token) => token !== "")
    .join(" ");
}
