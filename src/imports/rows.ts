// Reads the rows of a CSV list with known columns, each cell by its kind, and reports every wrong row.

import { headerOf, type ListColumns } from "../domain/users/list-columns.ts";
import type { Kind } from "../domain/values/kinds.ts";
import { FileError, readRecords, RowError } from "./records.ts";

export interface RowList<Row> {
  rows: Row[];
  /** The place of each row, such as `users.csv, line 7`. */
  places: string[];
  wrong: RowError[];
}

/** Reads the cells of a row. */
export interface Cells {
  /** Returns the value of a cell. Throws RowError if it is wrong or missing. */
  value: <Value>(column: string, kind: Kind<Value>) => Value;
  /** Returns the value of a cell; null if it is empty or its column is missing. */
  optional: <Value>(column: string, kind: Kind<Value>) => Value | null;
  /** Throws an error about the row. */
  refuse: (problem: string) => never;
}

export interface RowForm<Row> extends ListColumns {
  /** What the list holds, such as `users`. */
  what: string;
  read: (cells: Cells) => Row;
  /** Returns what no two rows may share; null: nothing. */
  keyOf: (row: Row) => string | null;
}

/** Reads a list. `file` is the name for messages. Throws FileError, and RowError if the header cannot be read. */
export function readRows<Row>(file: string, text: string, form: RowForm<Row>): RowList<Row> {
  const { header: columns, rows, wrong } = readRecords(file, text);
  const known = [...form.required, ...form.optional];
  const isHeader = form.required.every((column) => columns.includes(column));
  const areKnown = columns.every((column, at) => {
    return known.includes(column) && columns.indexOf(column) === at;
  });
  if (!isHeader || !areKnown) {
    throw new FileError(`${file} must begin with the line ${headerOf(form)}`);
  }
  if (rows.length + wrong.length === 0) {
    throw new FileError(`${file} contains no ${form.what}: nothing to import`);
  }
  const list: RowList<Row> = { rows: [], places: [], wrong };
  const seen = new Map<string, string>();
  for (const { place, cells } of rows) {
    const named = Object.fromEntries(columns.map((column, at) => [column, cells[at]!]));
    try {
      const row = form.read(cellsOf(place, named));
      const key = form.keyOf(row);
      const twice = key === null ? undefined : seen.get(key);
      if (twice !== undefined) throw new RowError(place, `the same as ${twice}`);
      if (key !== null) seen.set(key, place);
      list.rows.push(row);
      list.places.push(place);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      list.wrong.push(error);
    }
  }
  return list;
}

function cellsOf(place: string, cells: Readonly<Record<string, string>>): Cells {
  const refuse = (problem: string): never => {
    throw new RowError(place, problem);
  };
  const optional = <Value>(column: string, kind: Kind<Value>): Value | null => {
    // An export writes an apostrophe before text that begins like a formula.
    const text = (cells[column] ?? "").trim().replace(/^'(?=[=+\-@\t])/, "");
    if (text === "") return null;
    const found = kind.read(text);
    return "must" in found ? refuse(`${column} must be ${found.must}`) : found.value;
  };
  return {
    refuse,
    optional,
    value: (column, kind) => optional(column, kind) ?? refuse(`${column} is missing`),
  };
}
