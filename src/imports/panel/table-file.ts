// Reads the rows of a table from a CSV file or a MySQL dump, in pieces, whatever the size of the file.

import { readSync } from "node:fs";
import { CsvError, parse } from "csv-parse";
import { FileError, RowError } from "../records.ts";
import { DumpParser } from "./dump-parser.ts";
import type { Rules } from "./map.ts";

/** Bytes read at a time. A server parses a piece between the requests that it answers, in about 1 ms. */
const PIECE_BYTES = 16 * 1024;
/** Limit for the text of one CSV row. The parser reads an incomplete one again with each piece. */
const ROW_LIMIT = 128 * 1024;
/** Limit for columns, far above those of any panel. */
const COLUMNS_LIMIT = 500;
/** How a ZIP archive begins. */
const ZIP = "PK\u0003\u0004";

/** A file that is open. Its name ends in `.sql` if it is a dump. */
export interface PanelFile {
  /** The name in messages. */
  name: string;
  /** The number of its descriptor. */
  descriptor: number;
}

/** A row of a file: its position for messages, and its cells by column. */
export interface TableRow {
  place: string;
  cells: Readonly<Record<string, string>>;
}

export interface TableSource {
  file: PanelFile;
  /** The table in a dump; undefined: the format is for CSV only. */
  table: string | undefined;
  rules: Pick<Rules, "encoding" | "delimiter">;
}

/** Rows that could be read, and errors of rows that could not. */
export interface RowsPiece {
  rows: TableRow[];
  wrong: RowError[];
}

export function isDump(name: string): boolean {
  return /\.sql$/i.test(name);
}

/** Reads the rows of a file. Throws FileError for a file that cannot be read any further. */
export async function* readTable(source: TableSource): AsyncGenerator<RowsPiece> {
  if (isDump(source.file.name)) yield* readDump(source);
  else yield* readCsv(source);
}

function* readDump({ file, table, rules }: TableSource): Generator<RowsPiece> {
  const { name } = file;
  if (table === undefined) {
    throw new FileError(
      `${name} is a dump, but the mapping names no table: add \`table = "…"\` to it`,
    );
  }
  const parser = new DumpParser(name, table);
  let count = 0;
  for (const text of readText(file, rules.encoding)) {
    const rows = parser
      .push(text)
      .map(({ line, cells }) => ({ place: `${name}, line ${line}`, cells }));
    count += rows.length;
    yield { rows, wrong: [] };
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

async function* readCsv({ file, rules }: TableSource): AsyncGenerator<RowsPiece> {
  const { name } = file;
  let header: string[] | null = null;
  let isChecked = false;
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
    for (const text of readText(file, rules.encoding)) {
      await Promise.race([
        new Promise<void>((resolve) => parser.write(text, () => resolve())),
        failed,
      ]);
      if (header !== null && !isChecked) refuseHeader(header, name);
      isChecked = header !== null;
      yield piece;
      piece = { rows: [], wrong: [] };
    }
    await Promise.race([new Promise<void>((resolve) => parser.end(resolve)), failed]);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileError(`${name}, line ${last + 1}: ${CSV_PROBLEMS[error.code] ?? "not CSV"}`);
  }
  if (!isChecked) refuseHeader(header, name);
  yield piece;
}

function refuseHeader(header: readonly string[] | null, name: string): void {
  if (header === null)
    throw new FileError(`${name} is empty: its first line must name the columns`);
  if (header.length > COLUMNS_LIMIT) {
    throw new FileError(`${name} has ${header.length} columns: at most ${COLUMNS_LIMIT} are read`);
  }
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
function* readText(
  { name, descriptor }: PanelFile,
  encoding: Rules["encoding"],
): Generator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const bytes = new Uint8Array(PIECE_BYTES);
  let lines = 1;
  for (let position = 0; ;) {
    const read = readSync(descriptor, bytes, 0, PIECE_BYTES, position);
    const isFirst = position === 0;
    position += read;
    if (isFirst && Buffer.from(bytes.subarray(0, ZIP.length)).toString("latin1") === ZIP) {
      throw new FileError(`${name} is a ZIP archive: unpack it first`);
    }
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
}
