// Migrations: all or none, each recorded with its hash, and a copy made before.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import type { Migration } from "../../../src/db/port/database-state.ts";
import {
  APPLICATION_ID,
  migrate,
  MIGRATIONS,
  pendingMigrations,
} from "../../../src/storage/file/migrate.ts";
import { NEXT_MIGRATIONS } from "../../support/databases/next-version.ts";
import { OpenError } from "../../../src/storage/file/open-error.ts";

const NOTES = { version: 1, name: "0001_notes", sql: "CREATE TABLE notes (text TEXT) STRICT" };
const TAGS = { version: 2, name: "0002_tags", sql: "CREATE TABLE tags (text TEXT) STRICT" };

const tablesOf = (sqlite: Database) =>
  sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").values().flat();

function databaseWith(migrations: readonly Migration[]): Database {
  const sqlite = new Database(":memory:");
  migrate(sqlite, migrations, 1);
  return sqlite;
}

describe("pendingMigrations", () => {
  test.each([
    ["everything of an empty file", [], [NOTES, TAGS], [1, 2]],
    ["what an older database lacks", [NOTES], [NOTES, TAGS], [2]],
    ["nothing of one that is up to date", [NOTES, TAGS], [NOTES, TAGS], []],
  ])("is %s", (_title, applied, known, pending) => {
    const sqlite = applied.length === 0 ? new Database(":memory:") : databaseWith(applied);
    const found = pendingMigrations(sqlite, "/x", known).map(({ version }) => version);
    expect(found).toEqual(pending);
  });

  test.each([
    [
      "a newer database",
      [NOTES, TAGS],
      [NOTES],
      "newer version (schema 2; this binary supports 1)",
    ],
    [
      "a migration that was altered",
      [NOTES],
      [{ ...NOTES, sql: `${NOTES.sql} ` }],
      "another build of schema 1 (0001_notes differs)",
    ],
    [
      "one whose migrations have other names, from before the first release",
      [NOTES, TAGS],
      [{ ...NOTES, name: "0001_initial" }],
      "created by a version before 0.9.0, which was never released",
    ],
  ])("refuses %s", (_title, applied, known, says) => {
    const attempt = () => pendingMigrations(databaseWith(applied), "/some/path", known);
    expect(attempt).toThrow(OpenError);
    expect(attempt).toThrow("/some/path");
    expect(attempt).toThrow(says);
  });

  test("refuses a database that lost a row of its migrations", () => {
    const sqlite = databaseWith([NOTES, TAGS]);
    sqlite.run("DELETE FROM migrations WHERE version = 1");
    expect(() => pendingMigrations(sqlite, "/x", [NOTES, TAGS])).toThrow(
      "has a damaged migrations table (version 1 is missing): restore a backup",
    );
  });

  test("refuses the database of another program", () => {
    const sqlite = databaseWith([NOTES]);
    sqlite.run("PRAGMA application_id = 7");
    expect(() => pendingMigrations(sqlite, "/x", [NOTES])).toThrow("another program");
  });
});

describe("migrate", () => {
  test("records name, hash and time, and sets application_id", () => {
    const sqlite = databaseWith([NOTES]);
    const hash = new Bun.CryptoHasher("sha256").update(NOTES.sql).digest("hex");
    expect(sqlite.query("SELECT * FROM migrations").all()).toEqual([
      { version: 1, name: "0001_notes", hash, applied_at: 1 },
    ]);
    expect(sqlite.query("PRAGMA application_id").values()).toEqual([[APPLICATION_ID]]);
  });

  test.each([
    ["fails", "CREATE TABLE tags (text TEXT) STRICT; INSERT INTO nothing VALUES (1)"],
    [
      "leaves a row without what it refers to",
      `CREATE TABLE tags (note INTEGER REFERENCES notes (rowid)) STRICT;
       INSERT INTO tags VALUES (99)`,
    ],
  ])("undoes every pending one when one %s", (_title, sql) => {
    const sqlite = databaseWith([NOTES]);
    const more = { version: 2, name: "0002_more", sql: "CREATE TABLE more (x TEXT) STRICT" };
    const bad = { version: 3, name: "0003_bad", sql };
    expect(() => migrate(sqlite, [more, bad], 2)).toThrow();
    expect(tablesOf(sqlite)).toEqual(["migrations", "notes"]);
    expect(pendingMigrations(sqlite, "/x", [NOTES, more, bad]).length).toBe(2);
    expect(sqlite.query("PRAGMA foreign_keys").values()).toEqual([[1]]);
  });

  test("keeps child rows when a table is rebuilt", () => {
    const sqlite = databaseWith([
      {
        ...NOTES,
        sql: `CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT;
              CREATE TABLE tags (note INTEGER REFERENCES notes (id) ON DELETE CASCADE) STRICT;
              INSERT INTO notes VALUES (1); INSERT INTO tags VALUES (1)`,
      },
    ]);
    const rebuild = `CREATE TABLE fresh (id INTEGER PRIMARY KEY, text TEXT) STRICT;
      INSERT INTO fresh SELECT id, 'x' FROM notes; DROP TABLE notes;
      ALTER TABLE fresh RENAME TO notes`;
    migrate(sqlite, [{ version: 2, name: "0002_rebuild", sql: rebuild }], 2);
    expect(sqlite.query("SELECT * FROM tags").values()).toEqual([[1]]);
  });

  test("makes the same database whether migrations come at once or one by one", () => {
    const schemaOf = (sqlite: Database) =>
      sqlite.query("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").values();
    const oneByOne = new Database(":memory:");
    for (const migration of NEXT_MIGRATIONS.sqlite) migrate(oneByOne, [migration], 1);
    expect(schemaOf(oneByOne)).toEqual(schemaOf(databaseWith(NEXT_MIGRATIONS.sqlite)));
  });
});

test("members of 24 stay with all that refers to them, and addresses are unique once accepted", () => {
  const older = MIGRATIONS.filter(({ version }) => version < 25);
  const sqlite = databaseWith(older);
  const id = (place: number) => String(place).padStart(24, "m");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("INSERT INTO accounts VALUES (9, 'user')");
  sqlite.run(`INSERT INTO users (account, id, username, name, created_at) VALUES (9, '${"u".repeat(24)}', 'r', 'R', 1)`);
  const member = (place: number, email: string, password: string | null) =>
    sqlite.run(
      `INSERT INTO members (id, account, email, name, role, language, time_zone, mails, active, password_hash, created_at)
       VALUES (?, 9, ?, 'N', 'owner', 'en', 'UTC', '', 1, ?, ?)`,
      [id(place), email, password, place],
    );
  member(1, "Ann@x.example", "p");
  member(2, "bob@x.example", null);
  sqlite.run(`INSERT INTO member_networks VALUES ('${id(1)}', 'n', 1)`);
  const before = sqlite.query("SELECT * FROM members ORDER BY id").all();
  migrate(sqlite, MIGRATIONS.slice(older.length), 2);
  const added = { new_email: null, new_email_hash: null, new_email_until: null };
  expect(sqlite.query("SELECT * FROM members ORDER BY id").all()).toEqual(
    before.map((row) => ({ ...(row as object), ...added })),
  );
  sqlite.run("PRAGMA foreign_keys = ON");
  expect(sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
  expect(() => sqlite.run("INSERT INTO member_networks VALUES ('nobody', 'n', 1)")).toThrow("FOREIGN KEY");
  expect(() => sqlite.run("DELETE FROM members")).toThrow("not deleted");
  // Several resellers invite one address, and one of the invitations is accepted.
  member(3, "BOB@x.example", null);
  sqlite.run(`UPDATE members SET password_hash = 'p' WHERE id = '${id(2)}'`);
  expect(() => sqlite.run(`UPDATE members SET password_hash = 'p' WHERE id = '${id(3)}'`)).toThrow("UNIQUE");
  expect(() => member(4, "ann@X.example", "p")).toThrow("UNIQUE");
}); // prettier-ignore
