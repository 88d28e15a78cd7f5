// Reads the rows of a table from a CSV file or a MySQL dump, in pieces of any size of the file.

import { closeSync, openSync, readSync } from "node:fs";
import { CsvError, parse } from "csv-parse";
import { FileError, RowError } from "../records.ts";
import { DumpParser } from "./dump-parser.ts";
import type { Rules } from "./map.ts";

const PIECE_BYTES = 1024 * 1024;
/** Limit for the text of one CSV row. */
const ROW_LIMIT = 1024 * 1024;

/** A row of a file: its position for messages, and its cells by column. */
export interface TableRow {
  place: string;
  cells: Readonly<Record<string, string>>;
}

export interface TableSource {
  /** The path of the file. */
  path: string;
  /** The file's name in messages. */
  name: string;
  /** The table in a dump; undefined: the format is for CSV only. */
  table: string | undefined;
  rules: Pick<Rules, "encoding" | "delimiter">;
}

/** Rows that could be read, and errors of rows that could not. */
export interface RowsPiece {
  rows: TableRow[];
  wrong: RowError[];
}

export function isDump(path: string): boolean {
  return /\.sql$/i.test(path);
}

/** Reads the rows of a file. Throws FileError for a file that cannot be read any further. */
export async function* readTable(source: TableSource): AsyncGenerator<RowsPiece> {
  if (isDump(source.path)) yield* readDump(source);
  else yield* readCsv(source);
}

function* readDump({ path, name, table, rules }: TableSource): Generator<RowsPiece> {
  if (table === undefined) {
    throw new FileError(
      `${name} is a dump, but the mapping names no table: add \`table = "…"\` to it`,
    );
  }
  const parser = new DumpParser(name, table);
  let count = 0;
  for (const text of readText(path, name, rules.encoding)) {
    const rows = parser
      .push(text)
      .map(({ line, cells }) => ({ place: `${name}, line ${line}`, cells }));
    count += rows.length;
    if (rows.length > 0) yield { rows, wrong: [] };
  }
  parser.end();
  if (count === 0) throw new FileError(`${name} has no rows of the table ${table}`);
}

const CSV_PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: "a quoted cell is never closed",
  CSV_INVALID_CLOSING_QUOTE: "there is text after a cell's closing quote",
  INVALID_OPENING_QUOTE: "there is a quote inside an unquoted cell",
  CSV_MAX_RECORD_SIZE: "the row is too long",
};

async function* readCsv({ path, name, rules }: TableSource): AsyncGenerator<RowsPiece> {
  let header: string[] | null = null;
  let piece: RowsPiece = { rows: [], wrong: [] };
  let last = 0;
  const parser = parse({
    bom: true,
    delimiter: rules.delimiter,
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    max_record_size: ROW_LIMIT,
    on_record(cells: string[], { lines }) {
      const place = `${name}, line ${last + 1}`;
      last = lines;
      if (header === null) header = cells.map((cell) => cell.trim());
      else if (cells.length !== header.length) {
        const problem = `it has ${cells.length} cells, but the header has ${header.length}`;
        piece.wrong.push(new RowError(place, problem));
      } else piece.rows.push({ place, cells: cellsOf(header, cells) });
      // Nothing goes on to the stream's readable side.
      return null;
    },
    on_skip(error) {
      const lines = error?.["lines"] as number | undefined;
      const problem = CSV_PROBLEMS[error?.code ?? ""] ?? "not CSV";
      piece.wrong.push(new RowError(`${name}, line ${last + 1}`, problem));
      last = Math.max(last, lines ?? last);
    },
  });
  const failed = new Promise<never>((_, reject) => parser.once("error", reject));
  failed.catch(() => {});
  try {
    for (const text of readText(path, name, rules.encoding)) {
      await Promise.race([
        new Promise<void>((resolve) => parser.write(text, () => resolve())),
        failed,
      ]);
      refuseHeader(header, name);
      yield piece;
      piece = { rows: [], wrong: [] };
    }
    await Promise.race([new Promise<void>((resolve) => parser.end(resolve)), failed]);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileError(`${name}, line ${last + 1}: ${CSV_PROBLEMS[error.code] ?? "not CSV"}`);
  }
  refuseHeader(header, name);
  yield piece;
}

function refuseHeader(header: readonly string[] | null, name: string): void {
  if (header === null)
    throw new FileError(`${name} is empty: its first line must name the columns`);
  const twice = header.find((column, index) => header.indexOf(column) < index);
  if (twice !== undefined) throw new FileError(`${name}: column ${twice} appears twice`);
}

function cellsOf(header: readonly string[], cells: readonly string[]): Record<string, string> {
  const row: Record<string, string> = {};
  for (let index = 0; index < header.length; index += 1) {
    const cell = cells[index]!;
    // phpMyAdmin writes NULL as this word.
    row[header[index]!] = cell === "NULL" ? "" : withoutApostrophe(cell);
  }
  return row;
}

/** Removes the apostrophe that exports put before what a spreadsheet would take for a formula. */
function withoutApostrophe(cell: string): string {
  return /^'[=+\-@]/.test(cell) ? cell.slice(1) : cell;
}

/** Reads a file as text, piece by piece. Throws FileError for bytes that the encoding does not have. */
function* readText(path: string, name: string, encoding: Rules["encoding"]): Generator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const bytes = new Uint8Array(PIECE_BYTES);
  let lines = 1;
  const file = openSync(path, "r");
  try {
    for (;;) {
      const read = readSync(file, bytes);
      let text: string;
      try {
        text = decoder.decode(bytes.subarray(0, read), { stream: read > 0 });
      } catch {
        throw new FileError(
          `${name} is not ${encoding.toUpperCase()} after line ${lines}: convert it, or set \`encoding = "windows-1252"\` under [rules] of the mapping`,
        );
      }
      if (text !== "") yield text;
      if (read === 0) return;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
    }
  } finally {
    closeSync(file);
  }
}
