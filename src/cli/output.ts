// Results on stdout: a table or lines for a person, one JSON document for a program.

import { formatMicros, type Micros } from "../domain/money.ts";
import { showHidden } from "../domain/text.ts";

const COLUMN_GAP = "  ";
/** A last column of free text gives way to the others on a terminal, down to a few characters; ids never do. */
const FREE_TEXT = new Set(["link", "note"]);
const FREE_TEXT_MINIMUM = 12;

/** 128 + SIGPIPE, as shells count a program whose reader went away: `… | head -1`. */
const READER_GONE_EXIT = 141;
const READER_GONE = "EPIPE";

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;

/** Prints `result` as JSON, or else what `text` makes of it, with what a person could not see in it named. */
export function print<T>(json: true | undefined, result: T, text: (result: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(result) : showHidden(text(result))}\n`);
}

/** One line on stderr for a person. */
export function printError(message: string): void {
  process.stderr.write(`${showHidden(message)}\n`);
}

/** A result that cannot be printed ends a command: it is printed after the command is done, and nothing is taken back. */
let onOutputFailure = (code: string): void => {
  if (code === READER_GONE) process.exit(READER_GONE_EXIT);
  printError(`error: the result cannot be printed (${code}); what was asked for was done`);
  process.exit(1);
};

/** For the whole program: what cannot be written ends it or is passed to `handleOutputFailure`, and never throws. */
export function watchOutput(): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => onOutputFailure(code));
  process.stderr.on("error", () => {});
}

/** A server goes on: what it prints is a help, not its work. */
export function handleOutputFailure(handle: (code: string) => void): void {
  onOutputFailure = handle;
}

/** An amount for a person: at least two decimals, so that columns of them line up. */
export function dollars(micros: Micros): string {
  const [whole, decimals = ""] = formatMicros(micros).split(".");
  return `${whole}.${decimals.padEnd(2, "0")}`;
}

/**
 * Columns as the rows name them, numbers and amounts (`… usd`) to the right; `empty` when there is no row.
 * Not by a library: cli-table3 took over ten minutes for a catalogue of 100,000.
 */
export function table(rows: readonly Row[], empty: string): string {
  const [first] = rows;
  if (!first) return empty;
  const columns = Object.keys(first);
  const lines = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cell(row[column]))),
  ];
  const widths = columns.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, Bun.stringWidth(line[index]!)), 0),
  );
  const right = columns.map(
    (column) => typeof first[column] === "number" || column.endsWith("usd"),
  );
  const last = columns.length - 1;
  const room = FREE_TEXT.has(columns[last]!) ? roomForLast(widths) : Infinity;
  return lines
    .map((line) =>
      line
        .map((text, index) =>
          index === last && !right[index]
            ? cut(text, room)
            : pad(text, widths[index]!, right[index]!),
        )
        .join(COLUMN_GAP),
    )
    .join("\n");
}

/** One line a field, the names in a column of their own. */
export function fields(row: Row): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`)
    .join("\n");
}

function cell(value: Cell | undefined): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  // Not String: a very large amount is a raw JSON number, which only JSON.stringify can write.
  return typeof value === "string"
    ? showHidden(value).replaceAll("\n", "<U+000A>")
    : JSON.stringify(value);
}

function pad(text: string, width: number, right: boolean): string {
  const blanks = " ".repeat(width - Bun.stringWidth(text));
  return right ? blanks + text : text + blanks;
}

/** Without a terminal nothing is cut: another program may read it. */
function roomForLast(widths: readonly number[]): number {
  if (!process.stdout.isTTY || !process.stdout.columns) return Infinity;
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + COLUMN_GAP.length, 0);
  return Math.max(process.stdout.columns - before, FREE_TEXT_MINIMUM);
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}
