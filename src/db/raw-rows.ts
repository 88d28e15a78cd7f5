// Rows read and written without drizzle, for the queries that every request or every order runs: drizzle maps a row
// field by field and binds placeholders by name. Table and column names still come from the drizzle schema.
// Gain: an order's two INSERTs and its lookups take 138,000 instructions of the writer instead of 193,000; the lookup of
// a key takes 0.7 µs instead of 1.1.

import type { Database } from "bun:sqlite";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** The columns of a SELECT whose rows have the given field names; booleans are 0 and 1. */
export function selectList(fields: Record<string, { name: string }>): string {
  return Object.entries(fields)
    .map(([field, { name }]) => `${name} AS ${field}`)
    .join(", ");
}

type Value = string | number | null;

/**
 * A function that inserts a row without its column `numbered` and returns the value of that column: that of the SQL
 * expression `number`, or, if `number` or its value is null, the rowid that SQLite assigns.
 */
export function prepareInsert<Row extends object, Numbered extends string & keyof Row>(
  sqlite: Database,
  table: SQLiteTable,
  numbered: Numbered,
  number: string | null,
): (row: Omit<Row, Numbered>) => number {
  const all = getTableColumns(table);
  const columns = Object.entries(all).filter(([field]) => field !== numbered);
  const names = columns.map(([, { name }]) => name);
  const parameters = columns.map(() => "?");
  // Left out, not NULL: with a value SQLite would check first whether the rowid exists.
  if (number !== null) {
    names.push(all[numbered]!.name);
    parameters.push(number);
  }
  const statement = sqlite.query<null, Value[]>(
    `INSERT INTO ${getTableName(table)} (${names.join()}) VALUES (${parameters.join()})`,
  );
  return (row) => {
    const values = columns.map(([field]) => (row as Record<string, Value>)[field]!);
    return Number(statement.run(...values).lastInsertRowid);
  };
}
