// Upgrades of an older database: a copy is kept, all or nothing, whatever a killed process left.

import { Database } from "bun:sqlite";
import { copyFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "bun:test";
import { migrate, MIGRATIONS, pendingMigrations } from "../../../src/storage/file/migrate.ts";
import { claimDataDirectory, databasePath } from "../../../src/storage/file/open.ts";
import { upgrade } from "../../../src/storage/file/upgrade.ts";
import { NEXT_MIGRATION, NEXT_MIGRATIONS } from "../../support/databases/next-version.ts";
import { freshFolder } from "../../support/folders.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

/** A database that the next version has to upgrade. */
function olderDatabase(): { folder: string; path: string } {
  const folder = freshFolder();
  const path = databasePath(folder);
  const sqlite = new Database(path);
  migrate(sqlite, MIGRATIONS, NOW);
  sqlite.run("CREATE TABLE keepsake (text TEXT); INSERT INTO keepsake VALUES ('kept')");
  sqlite.close();
  return { folder, path };
}

/** Opens the database as the next version does. Returns the path of the copy that it keeps. */
function upgradeToNext(path: string, now: number): string | null {
  const sqlite = new Database(path);
  try {
    const pending = pendingMigrations(sqlite, path, NEXT_MIGRATIONS.sqlite);
    return upgrade(sqlite, path, pending, now);
  } finally {
    sqlite.close();
  }
}

const keepsakeIn = (path: string) => {
  const sqlite = new Database(path, { readonly: true });
  const rows = sqlite.query("SELECT text FROM keepsake").values();
  const isUpgraded = sqlite.query("SELECT 1 FROM migrations WHERE name = ?").get("9999_next");
  sqlite.close();
  return [rows.flat(), isUpgraded !== null];
};
const copiesIn = (folder: string) =>
  readdirSync(folder).filter((name) => name.includes("before-migration"));

test("an older database is copied as it was before it is migrated, and the copy is 0600", () => {
  const { path } = olderDatabase();
  const copy = upgradeToNext(path, NOW);
  expect(copy).toBe(`${path}.before-migration-2026-01-02T03-04-05-006Z`);
  expect((statSync(copy!).mode & 0o777).toString(8)).toBe("600");
  expect(keepsakeIn(copy!)).toEqual([["kept"], false]);
  expect(keepsakeIn(path)).toEqual([["kept"], true]);
});

test("a database that cannot be migrated stays as it was, without a copy for each try", () => {
  const { folder, path } = olderDatabase();
  const inTheWay = new Database(path);
  inTheWay.run("CREATE TABLE tags (text TEXT)");
  inTheWay.close();
  const before = readdirSync(folder);
  for (const later of [0, 1]) {
    expect(() => upgradeToNext(path, NOW + later)).toThrow("tags already exists");
  }
  expect(readdirSync(folder)).toEqual(before);
  expect(keepsakeIn(path)).toEqual([["kept"], false]);
});

test("exactly one copy is left, whatever files killed upgrades have left", () => {
  const { folder, path } = olderDatabase();
  const copy = `${path}.before-migration-to-${NEXT_MIGRATION.sqlite.version}`;
  for (const end of [".partial", ".partial-journal"]) writeFileSync(copy + end, "half");
  copyFileSync(path, copy);
  const changed = new Database(path);
  changed.run("UPDATE keepsake SET text = 'newer'");
  changed.close();
  const kept = upgradeToNext(path, NOW);
  expect(copiesIn(folder)).toEqual([basename(kept!)]);
  expect(keepsakeIn(kept!)).toEqual([["newer"], false]);
});

test("the copy of an upgrade by a process killed right after it gets its name", () => {
  const { folder, path } = olderDatabase();
  const first = upgradeToNext(path, NOW);
  renameSync(first!, `${path}.before-migration-to-${NEXT_MIGRATION.sqlite.version}`);
  const copy = upgradeToNext(path, NOW + 1);
  expect(copiesIn(folder)).toEqual([basename(copy!)]);
  expect(copy).toMatch(/before-migration-20\d\d-/);
  upgradeToNext(path, NOW + 2);
  expect(copiesIn(folder)).toEqual([basename(copy!)]);
});

test("neither a new database nor one that is up to date is copied", () => {
  const folder = freshFolder();
  for (let opening = 0; opening < 2; opening++) {
    const { migrationCopy, release } = claimDataDirectory(folder, NOW);
    release();
    expect(migrationCopy).toBeNull();
  }
});
