// What a failing disk does to a database file.

import { Database } from "bun:sqlite";
import { closeSync, openSync, writeSync } from "node:fs";

/** Overwrites the first page of each table, under whoever has the database open. */
export function damageTables(path: string, tables: readonly string[]): void {
  const sqlite = new Database(path, { readonly: true });
  const pageOf = sqlite.query("SELECT rootpage FROM sqlite_schema WHERE name = ?");
  const pages = tables.map((table) => (pageOf.get(table) as { rootpage: number }).rootpage);
  const [[size]] = sqlite.query("PRAGMA page_size").values() as [[number]];
  sqlite.close();
  const file = openSync(path, "r+");
  for (const page of pages) writeSync(file, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
  closeSync(file);
}
