// A version of the program after this one: the same with one more migration for each engine. Databases of this version are
// old for it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Migration } from "../../../src/db/port/database-state.ts";
import * as postgres from "../../../src/db/postgres/schema/migrate.ts";
import * as sqlite from "../../../src/storage/file/migrate.ts";
import { bundledNextProgram } from "../bundles.ts";
import type { Engine } from "./engine.ts";
import { freshFolder } from "../folders.ts";

/** The additional migration of each engine. It rewrites a table's text, as ALTER TABLE does on SQLite. */
export const NEXT_MIGRATION: Record<Engine, Migration> = {
  sqlite: {
    version: sqlite.MIGRATIONS.at(-1)!.version + 1,
    name: "9999_next",
    sql: `CREATE TABLE tags (text TEXT) STRICT;
      ALTER TABLE users ADD COLUMN nickname TEXT CHECK (length(nickname) > 0);`,
  },
  postgres: {
    version: postgres.MIGRATIONS.at(-1)!.version + 1,
    name: "9999_next",
    sql: `CREATE TABLE tags (text text);
      ALTER TABLE users ADD COLUMN nickname text CHECK (length(nickname) > 0);`,
  },
};

/** All migrations of the next version, oldest first. */
export const NEXT_MIGRATIONS: Record<Engine, readonly Migration[]> = {
  sqlite: [...sqlite.MIGRATIONS, NEXT_MIGRATION.sqlite],
  postgres: [...postgres.MIGRATIONS, NEXT_MIGRATION.postgres],
};

/** The path of an executable of the next version. */
export async function nextBinary(): Promise<string> {
  const command = await bundledNextProgram(NEXT_MIGRATION);
  const path = join(freshFolder(), "reseller");
  const quoted = command.map((word) => `'${word}'`).join(" ");
  writeFileSync(path, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  return path;
}
