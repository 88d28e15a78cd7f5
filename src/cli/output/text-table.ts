// Formats tables and lists of fields as text for a person. Nothing is cut. The first of these forms that fits into the
// terminal is used: one line a row; cells wrapped; the last column below each row; the last columns below each row,
// with their headings; a block of fields for each row.

import { showHidden } from "../../domain/values/text.ts";

const COLUMN_GAP = "  ";
/** The minimum width of a column of words. */
const WORDS_MINIMUM = 14;
/** The indent of a last column that has its own line. A link there is not broken, so it can be clicked and copied. */
const BELOW_INDENT = "  ";
/** The minimum number of columns side by side. With fewer, each row is a block of fields. */
const BESIDE_MINIMUM = 2;
/** The text of an empty cell. Such a cell takes no separate line below a row. */
const NOTHING = "-";
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z$/;

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;

interface Column {
  heading: string;
  cells: string[];
  isRight: boolean;
  width: number;
}

/**
 * Returns a table with the rows' members as columns, numbers and amounts (`… usd`) right-aligned, or `empty` if there
 * are no rows. No library is used: cli-table3 took over ten minutes for a catalogue of 100,000.
 */
export function table(rows: readonly Row[], empty: string, width = terminalWidth()): string {
  const [first] = rows;
  if (!first) return empty;
  const columns = Object.keys(first).map((name) => columnOf(name, rows, first));
  if (fits(columns, width)) return lines(columns).join("\n");
  const wrapped = narrowed(columns, width);
  if (wrapped) return lines(wrapped).join("\n");
  const [others, last] = [columns.slice(0, -1), columns.at(-1)!];
  const above = last.isRight ? null : narrowed(others, width);
  if (above) return withBelow(above, last);
  for (let count = columns.length - 2; count >= BESIDE_MINIMUM; count--) {
    const beside = narrowed(columns.slice(0, count), width);
    if (beside) return withNamedBelow(beside, columns.slice(count), width);
  }
  return blocks(columns, width);
}

/** Returns one line per field, with the names in a column. */
export function fields(row: Row): string {
  const names = Object.keys(row);
  const shown = Object.entries(row).map(
    ([name, value]) => [distinctWordsOf(name, names), textOf(value)] as const,
  );
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join("\n");
}

/** Returns a member's name in words: `lastSuccessAt` becomes `last success`. */
export function wordsOf(name: string): string {
  return name
    .replace(/(?<=[a-z])At$/, "")
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
}

/** Returns the name in words, unique among `names`: `lastBalanceAt` beside `lastBalance` is `last balance at`. */
function distinctWordsOf(name: string, names: readonly string[]): string {
  const words = wordsOf(name);
  const isTaken = names.some((other) => other !== name && wordsOf(other) === words);
  return isTaken && name.endsWith("At") ? `${words} at` : words;
}

/** Returns Infinity without a terminal: each row is then one line, because another program may read it. */
function terminalWidth(): number {
  return process.stdout.isTTY && process.stdout.columns ? process.stdout.columns : Infinity;
}

function columnOf(name: string, rows: readonly Row[], first: Row): Column {
  // A name that begins with a capital letter is a unit and is kept.
  const heading = /^[A-Z]/.test(name)
    ? name
    : distinctWordsOf(name, Object.keys(first)).toUpperCase();
  const cells = rows.map((row) => textOf(row[name]).replace(TIME, "$1Z"));
  const isRight = typeof first[name] === "number" || name.endsWith("usd");
  return { heading, cells, isRight, width: widest([heading, ...cells]) };
}

function textOf(value: Cell | undefined): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  // String would be wrong: a very large amount is a raw JSON number, which only JSON.stringify can write.
  return typeof value === "string"
    ? showHidden(value).replaceAll("\n", "<U+000A>")
    : JSON.stringify(value);
}

function fits(columns: readonly Column[], width: number): boolean {
  return width === Infinity || totalWidth(columns) <= width;
}

function totalWidth(columns: readonly Column[]): number {
  const gaps = COLUMN_GAP.length * (columns.length - 1);
  return columns.reduce((sum, column) => sum + column.width, gaps);
}

/** Narrows columns of several words, the widest first. Returns null if the table still does not fit. */
function narrowed(columns: readonly Column[], width: number): Column[] | null {
  const result = columns.map((column) => ({ ...column, least: minimumWidth(column) }));
  for (let excess = totalWidth(result) - width; excess > 0;) {
    const wide = result.filter((column) => column.width > column.least);
    const [first, second] = wide.toSorted((one, other) => other.width - one.width);
    if (!first) return null;
    const next = Math.max(first.least, first.width - excess, (second?.width ?? 1) - 1);
    excess -= first.width - next;
    first.width = next;
  }
  return result;
}

/** Returns the least width of a column: its longest word, or its full width if its cells cannot be broken at spaces. */
function minimumWidth({ heading, cells, isRight, width }: Column): number {
  if (isRight || !cells.some(hasBlank)) return width;
  const words = cells.flatMap((cell) => cell.split(" "));
  return Math.min(width, Math.max(WORDS_MINIMUM, widest([heading, ...words])));
}

function hasBlank(text: string): boolean {
  return text.includes(" ");
}

/** Returns one line per row, and more if a cell is wider than its column. */
function lines(columns: readonly Column[]): string[] {
  return rowsOf(columns).flat();
}

/** Returns the heading's lines, then the lines of each row. */
function rowsOf(columns: readonly Column[]): string[][] {
  const count = columns[0]!.cells.length;
  const rows = [columns.map(({ heading }) => heading)];
  for (let row = 0; row < count; row++) rows.push(columns.map(({ cells }) => cells[row]!));
  return rows.map((texts) => rowLines(columns, texts));
}

function rowLines(columns: readonly Column[], texts: readonly string[]): string[] {
  const wrapped = texts.map((text, index) => wrap(text, columns[index]!.width));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map(({ width, isRight }, index) => pad(wrapped[index]![line] ?? "", width, isRight))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

/** Breaks text into lines of whole words. */
function wrap(text: string, width: number): string[] {
  if (!hasBlank(text) || Bun.stringWidth(text) <= width) return [text];
  const result: string[] = [];
  for (const word of text.split(" ")) {
    const line = result.at(-1);
    const longer = `${line} ${word}`;
    if (line !== undefined && Bun.stringWidth(longer) <= width) result[result.length - 1] = longer;
    else result.push(word);
  }
  return result;
}

/** Returns each row with its cell of the last column on the line below. */
function withBelow(columns: readonly Column[], { heading, cells }: Column): string {
  const below = [heading, ...cells];
  return rowsOf(columns)
    .flatMap((row, index) =>
      below[index] === NOTHING ? row : [...row, BELOW_INDENT + below[index]!],
    )
    .join("\n");
}

/** Returns each row with the cells of the last columns below it, one line each with its heading. */
function withNamedBelow(
  columns: readonly Column[],
  below: readonly Column[],
  width: number,
): string {
  const [headings, ...rows] = rowsOf(columns);
  const named = rows.map((row, index) => [
    ...row,
    ...below.flatMap(({ heading, cells }) => {
      const text = cells[index]!;
      if (text === NOTHING) return [];
      return namedLines(BELOW_INDENT, heading, text, below, width);
    }),
  ]);
  return [...headings!, ...named.flat()].join("\n");
}

/** Returns each row as one line per field, with an empty line between rows. */
function blocks(columns: readonly Column[], width: number): string {
  return columns[0]!.cells
    .map((_, row) =>
      columns
        .flatMap(({ heading, cells }) => namedLines("", heading, cells[row]!, columns, width))
        .join("\n"),
    )
    .join("\n\n");
}

/**
 * Returns a heading padded to the widest of its neighbours, with the text beside it, wrapped to as many lines as
 * needed.
 */
function namedLines(
  indent: string,
  heading: string,
  text: string,
  neighbours: readonly Column[],
  width: number,
): string[] {
  const name = `${indent}${heading.padEnd(widest(neighbours.map((each) => each.heading)))}${COLUMN_GAP}`;
  const room = Math.max(width - name.length, WORDS_MINIMUM);
  return wrap(text, room).map((line, index) =>
    index === 0 ? name + line : " ".repeat(name.length) + line,
  );
}

function pad(text: string, width: number, isRight: boolean): string {
  const blanks = " ".repeat(Math.max(width - Bun.stringWidth(text), 0));
  return isRight ? blanks + text : text + blanks;
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, Bun.stringWidth(text)), 0);
}
