// Migrations: all or none, each recorded with its hash, and a copy made before.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  APPLICATION_ID,
  migrate,
  type Migration,
  MIGRATIONS,
  pendingMigrations,
} from "../../../src/storage/file/migrate.ts";
import { OpenError } from "../../../src/storage/file/open-error.ts";

const NOTES = { version: 1, name: "0001_notes", sql: "CREATE TABLE notes (text TEXT) STRICT" };
const TAGS = { version: 2, name: "0002_tags", sql: "CREATE TABLE tags (text TEXT) STRICT" };

const SERVICE_NUMBERS = MIGRATIONS.find(({ name }) => name.endsWith("_service_numbers"))!.version;

const MONEY = MIGRATIONS.find(({ name }) => name.endsWith("_money"))!.version;

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
  ])("refuses %s", (_title, applied, known, says) => {
    const attempt = () => pendingMigrations(databaseWith(applied), "/some/path", known);
    expect(attempt).toThrow(OpenError);
    expect(attempt).toThrow("/some/path");
    expect(attempt).toThrow(says);
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
    for (const migration of MIGRATIONS) migrate(oneByOne, [migration], 1);
    expect(schemaOf(oneByOne)).toEqual(schemaOf(databaseWith(MIGRATIONS)));
  });

  test("keeps notes as they were told: an operator's are public, those of the service never are", () => {
    const sqlite = databaseWith(MIGRATIONS.filter(({ version }) => version < MONEY));
    sqlite.run("INSERT INTO accounts VALUES (3, 'user')");
    sqlite.run(
      `INSERT INTO users (account, id, username, name, balance_micros, deposited_micros, created_at)
      VALUES (3, 'abcdefghijklmnopqrstuvwx', 'u', 'u', 9, 9, 1)`,
    );
    sqlite.run(
      `INSERT INTO services (number, id, name, price_micros, per, min, max, active, private, created_at)
      VALUES (1, 's', 's', 1, '1', 1, 1, 1, 0, 1)`,
    );
    for (const id of [3, 4, 5]) {
      sqlite.run(
        `INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
          charge_micros, refunded_micros, status, remains, created_at, placement)
        VALUES (?, ?, 3, 's', 's', 1, '1', 'x', 1, 1, 1, 'CANCELLED', 1, 1, 'manual')`,
        [id, `${id}`.padStart(24, "a")],
      );
    }
    const insert = sqlite.prepare(
      `INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, order_id, operator, note, created_at)
      VALUES (?, ?, ?, 1, ?, ?, ?, ?, 1)`,
    );
    const OURS = "settled: it was not placed";
    for (const [seq, kind, operator, note] of [
      [1, "adjustment", "root", "invoice 12"],
      [2, "adjustment", "root", null],
      [3, "refund", "root", OURS],
      [4, "refund", null, "the provider refused it: no funds"],
      [5, "refund", "root", "sorry"],
      // An operator's own words: they were told.
      [6, "adjustment", "root", OURS],
    ] as const) {
      const isRefund = kind === "refund";
      insert.run(seq, isRefund ? 2 : 1, 3, kind, isRefund ? seq : null, operator, note);
    }
    const rows = sqlite.query("SELECT * FROM transfers").all();
    migrate(
      sqlite,
      MIGRATIONS.filter(({ version }) => version === MONEY),
      2,
    );
    expect(
      sqlite.query("SELECT seq, account, reference, public_note FROM transfer_details").values(),
    ).toEqual([
      [1, 3, null, "invoice 12"],
      [5, 3, null, "sorry"],
      [6, 3, null, OURS],
    ]);
    expect(sqlite.query("SELECT * FROM transfers").all()).toEqual(rows);
  });

  test("numbers services in the order of their creation, and they keep everything else", () => {
    const before = MIGRATIONS.filter(({ version }) => version < SERVICE_NUMBERS);
    const sqlite = databaseWith(before);
    const insert = sqlite.prepare(
      `INSERT INTO services (id, name, price_micros, per, min, max, active, private, created_at, name_by_hand)
      VALUES (?, 'n', 1, '1', 1, 2, 1, 0, ?, 0)`,
    );
    // Two of them were imported together, at one time.
    for (const [id, createdAt] of [
      ["late", 30],
      ["b", 20],
      ["a", 20],
      ["first", 10],
    ] as const) {
      insert.run(id, createdAt);
    }
    sqlite.run("INSERT INTO accounts VALUES (3, 'user')");
    sqlite.run(
      "INSERT INTO users (account, id, username, name, created_at) VALUES (3, 'abcdefghijklmnopqrstuvwx', 'u', 'u', 1)",
    );
    sqlite.run("INSERT INTO grants VALUES ('a', 3, NULL, 1)");
    const old = sqlite.query("SELECT * FROM services ORDER BY created_at, rowid").all() as object[];
    migrate(sqlite, MIGRATIONS.slice(before.length), 2);
    expect(sqlite.query("SELECT * FROM services ORDER BY number").all()).toEqual(
      old.map((row, index) => {
        const typed = { type: "default", dripfeed: 0, type_by_hand: 0, dripfeed_by_hand: 0 };
        const flags = { cancel: 0, refill: 0, cancel_by_hand: 0, refill_by_hand: 0 };
        const added = {
          ...typed,
          ...flags,
          refill_days: 30,
          suspended: 0,
          provider_priority: 0,
          route_delisted: 0,
        };
        return { number: index + 1, category: "Services", category_by_hand: 0, ...row, ...added };
      }),
    );
    expect(sqlite.query("SELECT id FROM services ORDER BY number").values().flat()).toEqual([
      "first", "b", "a", "late",
    ]); // prettier-ignore
    expect(() => sqlite.run("UPDATE services SET number = 9 WHERE id = 'a'")).toThrow("keeps its");
    expect(() => sqlite.run("DELETE FROM services WHERE id = 'a'")).toThrow("FOREIGN KEY");
  });
});
