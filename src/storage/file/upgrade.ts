// Upgrades a database to this program's schema and keeps a copy of the old one. The process may be killed between any
// two steps, so the name of the copy shows how far the upgrade got:
// - reseller.db.before-migration-to-8.partial: being written; the next start removes it.
// - reseller.db.before-migration-to-8: complete and synced; the upgrade may be committed or not.
// - reseller.db.before-migration-2026-11-21T…: the upgrade is committed; the copy stays.

import type { Database } from "bun:sqlite";
import { chmodSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Migration, UNFINISHED_MOVE } from "../../db/port/database-state.ts";
import { syncPath } from "./files.ts";
import { migrate } from "./migrate.ts";

const UNNAMED = /^\.before-migration-to-(\d+)(\.partial(?:-journal)?)?$/;

/**
 * Upgrades the database. The caller holds the lock of the data directory. Returns the path of the copy of the old
 * database, or null if there is none. If it fails, the old database is unchanged and there is no copy.
 */
export function upgrade(
  sqlite: Database,
  path: string,
  pending: readonly Migration[],
  now: number,
): string | null {
  const named = settleCopies(path, pending);
  const last = pending.at(-1);
  if (!last) return named;
  const copy = `${path}.before-migration-to-${last.version}`;
  let isKept: boolean;
  try {
    isKept = copyBeforeMigration(sqlite, copy);
    migrate(sqlite, pending, now);
  } catch (error) {
    settleCopies(path, pending);
    throw error;
  }
  return isKept ? nameCopy(path, copy, now) : named;
}

/** Gives the copy of a committed upgrade its final name, and removes the copies of upgrades that were not committed. */
function settleCopies(path: string, pending: readonly Migration[]): string | null {
  let named: string | null = null;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(basename(path))) continue;
    const [, version, unfinished] = UNNAMED.exec(name.slice(basename(path).length)) ?? [];
    if (version === undefined) continue;
    const file = join(dirname(path), name);
    const isCommitted = !pending.some((migration) => migration.version === Number(version));
    if (unfinished === undefined && isCommitted) {
      named = nameCopy(path, file, statSync(file).mtimeMs);
    } else {
      rmSync(file);
    }
  }
  return named;
}

/** Copies the database; returns false for an empty one, which is not copied. */
function copyBeforeMigration(sqlite: Database, copy: string): boolean {
  const { tables } = sqlite
    .query(`SELECT count(*) AS tables FROM sqlite_schema WHERE name <> '${UNFINISHED_MOVE}'`)
    .get() as {
    tables: number;
  };
  if (tables === 0) return false;
  const partial = `${copy}.partial`;
  sqlite.query("VACUUM INTO ?").run(partial);
  chmodSync(partial, 0o600);
  syncPath(partial);
  renameSync(partial, copy);
  syncPath(dirname(copy));
  return true;
}

function nameCopy(path: string, copy: string, at: number): string {
  const named = `${path}.before-migration-${new Date(at).toISOString().replace(/[:.]/g, "-")}`;
  renameSync(copy, named);
  syncPath(dirname(path));
  return named;
}
