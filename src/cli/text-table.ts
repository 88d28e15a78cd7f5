// Tables and lists of fields as text, for a person.

import { showHidden } from "../domain/text.ts";

const COLUMN_GAP = "  ";
/** On a terminal a last column of free text is cut to the width that is left, down to a few characters; ids never are. */
const FREE_TEXT = new Set(["link", "note"]);
const FREE_TEXT_MINIMUM = 12;

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;

/**
 * A table with the rows' members as columns, numbers and amounts (`… usd`) right-aligned; `empty` when there is no row.
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
  const lastWidth = FREE_TEXT.has(columns[last]!) ? widthOfLast(widths) : Infinity;
  return lines
    .map((line) =>
      line
        .map((text, index) =>
          index === last && !right[index]
            ? cut(text, lastWidth)
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

/** Infinity without a terminal: nothing is cut, because another program may read it. */
function widthOfLast(widths: readonly number[]): number {
  if (!process.stdout.isTTY || !process.stdout.columns) return Infinity;
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + COLUMN_GAP.length, 0);
  return Math.max(process.stdout.columns - before, FREE_TEXT_MINIMUM);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
