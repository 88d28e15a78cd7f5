// Reads the records of a CSV text, each with its line. After a record that cannot be read, reading continues with the
// next one.

import { CsvError, parse } from "csv-parse/sync";

/** Thrown for a text that is not a valid list. The message says why. */
export class FileError extends Error {
  override name = "FileError";
}

/** Thrown for a wrong row. The message says why. */
export class RowError extends Error {
  override name = "RowError";
  constructor(
    readonly place: string,
    readonly problem: string,
  ) {
    super(`${place}: ${problem}`);
  }
}

/** The CSV parser's error codes as sentences for the operator. */
const CSV_PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: "the quoted cell that begins here is never closed",
  CSV_INVALID_CLOSING_QUOTE: "there is text after a cell's closing quote",
  INVALID_OPENING_QUOTE: "there is a quote inside an unquoted cell",
};
const CELL_COUNT = "its number of cells differs from the header";

export interface CsvRow {
  /** The position for messages, such as `catalogue.csv, line 7`. */
  place: string;
  cells: string[];
}

export interface CsvRecords {
  /** Empty if the text is empty. */
  header: string[];
  rows: CsvRow[];
  wrong: RowError[];
}

/** Limit for reported rows with wrong quotes. At the limit reading stops. */
const QUOTE_ERRORS_LIMIT = 100;

/** Reads the header and the rows. `file` is the name used in places. Throws RowError if the header cannot be read. */
export function readRecords(file: string, text: string): CsvRecords {
  const { records, wrong } = readAll(file, text);
  const [first, ...rest] = records;
  const before = wrong.find(({ place }) => lineOf(place) < (first?.line ?? Infinity));
  if (before) throw before;
  const header = (first?.cells ?? []).map((column) => column.trim());
  const rows: CsvRow[] = [];
  for (const { cells, line } of rest) {
    const place = `${file}, line ${line}`;
    if (cells.length === header.length) rows.push({ place, cells });
    else wrong.push(new RowError(place, CELL_COUNT));
  }
  return { header, rows, wrong };
}

interface CsvRecord {
  cells: string[];
  line: number;
}

/**
 * Reads all records. The parser stops at a wrong quote. It is restarted on the line after the one on which the wrong
 * record begins.
 */
function readAll(file: string, text: string): { records: CsvRecord[]; wrong: RowError[] } {
  const records: CsvRecord[] = [];
  const wrong: RowError[] = [];
  let rest = text;
  let skipped = 0;
  for (;;) {
    let read = 0;
    try {
      parse(rest, {
        bom: true,
        skip_empty_lines: true,
        relax_column_count: true,
        on_record(cells: string[], { lines }) {
          read = lines;
          records.push({ cells, line: skipped + firstLine(cells, lines) });
          return null;
        },
      });
      return { records, wrong };
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const lines = rest.split(LINE_END);
      const at = lines.findIndex((line, index) => index >= read && line !== "");
      const place = `${file}, line ${skipped + at + 1}`;
      wrong.push(new RowError(place, CSV_PROBLEMS[error.code] ?? "not CSV"));
      if (wrong.length === QUOTE_ERRORS_LIMIT) return { records, wrong };
      rest = lines.slice(at + 1).join("\n");
      skipped += at + 1;
    }
  }
}

const LINE_END = /\r\n|\r|\n/;

/** Returns the errors of the unreadable rows and of the refused ones, in the order of their lines. */
export function wrongRows<Code>(
  { places, wrong }: { places: readonly string[]; wrong: readonly RowError[] },
  refused: readonly { index: number; code: Code }[],
  sentenceOf: (code: Code) => string,
): RowError[] {
  const all = refused.map(({ index, code }) => new RowError(places[index]!, sentenceOf(code)));
  return [...wrong, ...all].toSorted((one, other) => lineOf(one.place) - lineOf(other.place));
}

/** Returns the line number at the end of a place. */
export function lineOf(place: string): number {
  return Number(/\d+$/.exec(place)?.[0] ?? 0);
}

/**
 * Returns the line on which a record begins, given the line on which it ends: quoted cells may contain line breaks.
 */
function firstLine(record: readonly string[], lastLine: number): number {
  const breaks = record.map((text) => text.match(/\r\n|\r|\n/g)?.length ?? 0);
  return lastLine - breaks.reduce((sum, count) => sum + count, 0);
}
