// A SQLite database as its migrations make it: migrated once in a test process, copied for each test.

import { Database } from "bun:sqlite";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";

let template: Database | undefined;

/** The file of a database without rows, made at that time: by it the program tells a database's own copies from others. */
export function emptyDatabase(madeAt: number): Uint8Array {
  template ??= migrated();
  template.run("UPDATE migrations SET applied_at = ?", [madeAt]);
  return template.serialize();
}

/** The same in memory. */
export function emptyMemoryDatabase(): Database {
  return memoryDatabase(emptyDatabase(0));
}

export function memoryDatabase(image: Uint8Array): Database {
  const sqlite = Database.deserialize(image);
  sqlite.run("PRAGMA foreign_keys = ON");
  return sqlite;
}

function migrated(): Database {
  const sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS, 0);
  return sqlite;
}
