// Upgrading a database to this binary's schema, with a copy of the old one kept. A process may be killed between any
// two steps, so the name of the copy says how far it is:
//   reseller.db.before-migration-to-8.partial    being written: removed by the next start
//   reseller.db.before-migration-to-8            whole and synced, the upgrade not known to be committed
//   reseller.db.before-migration-2026-11-21T…    the upgrade is committed: it stays

import type { Database } from "bun:sqlite";
import { chmodSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncPath } from "./files.ts";
import { migrate, type Migration } from "./migrate.ts";

const UNNAMED = /^\.before-migration-to-(\d+)(\.partial(?:-journal)?)?$/;

/**
 * Only with the lock of the data directory. Returns where the copy of the old database is, null where there is none.
 * Where anything fails the old database is as it was, and the only one.
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

/** Names the copy of an upgrade that was committed, removes those of upgrades that were not. */
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

/** False where there is nothing to keep. */
function copyBeforeMigration(sqlite: Database, copy: string): boolean {
  const { tables } = sqlite.query("SELECT count(*) AS tables FROM sqlite_schema").get() as {
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
