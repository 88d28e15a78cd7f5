// Settings that apply only to a SQLite database: PostgreSQL's own tools make its backups and keep its write-ahead
// log.

import type { Config } from "./settings.ts";

/** Returns why these settings are refused together with --database, or null if they are allowed. */
export function refusedWithPostgres({
  database,
  backupTo,
  checkpoint,
}: Pick<Config, "database" | "backupTo" | "checkpoint">): string | null {
  if (database === null) return null;
  if (backupTo !== null)
    return "--backup-to is only for SQLite databases: remove it when using --database, and back up PostgreSQL with its own tools";
  if (checkpoint === "external")
    return "--checkpoint is only for SQLite databases: remove it when using --database";
  return null;
}
