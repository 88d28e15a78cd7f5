// Tables and lists of fields as text, for a person. Nothing is cut: a table that is wider than the terminal is wrapped
// within its cells, then has its last column on lines of its own, then its last columns named below each row, and else is
// printed as a block of fields a row.

import { showHidden } from "../domain/text.ts";

const COLUMN_GAP = "  ";
/** A column of words is not made narrower than this. */
const WORDS_MINIMUM = 14;
/** Before a cell of the last column on a line of its own: a link there can be opened and copied whole. */
const BELOW_INDENT = "  ";
/** A table with fewer columns beside each other is a block of fields a row. */
const BESIDE_MINIMUM = 2;
/** The cell of what is not there: it takes no line of its own below a row. */
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
 * A table with the rows' members as columns, numbers and amounts (`… usd`) right-aligned; `empty` when there is no row.
 * Not by a library: cli-table3 took over ten minutes for a catalogue of 100,000.
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

/** One line a field, the names in a column of their own. */
export function fields(row: Row): string {
  const shown = Object.entries(row).map(([name, value]) => [wordsOf(name), textOf(value)] as const);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join("\n");
}

/** `lastSuccessAt` in words, `last success`. */
export function wordsOf(name: string): string {
  return name
    .replace(/(?<=[a-z])At$/, "")
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
}

/** Infinity without a terminal: each row is one line then, because another program may read it. */
function terminalWidth(): number {
  return process.stdout.isTTY && process.stdout.columns ? process.stdout.columns : Infinity;
}

function columnOf(name: string, rows: readonly Row[], first: Row): Column {
  const heading = wordsOf(name).toUpperCase();
  const cells = rows.map((row) => textOf(row[name]).replace(TIME, "$1Z"));
  const isRight = typeof first[name] === "number" || name.endsWith("usd");
  return { heading, cells, isRight, width: widest([heading, ...cells]) };
}

function textOf(value: Cell | undefined): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  // Not String: a very large amount is a raw JSON number, which only JSON.stringify can write.
  return typeof value === "string"
    ? showHidden(value).replaceAll("\n", "<U+000A>")
    : JSON.stringify(value);
}

function fits(columns: readonly Column[], width: number): boolean {
  return width === Infinity || totalOf(columns) <= width;
}

function totalOf(columns: readonly Column[]): number {
  const gaps = COLUMN_GAP.length * (columns.length - 1);
  return columns.reduce((sum, column) => sum + column.width, gaps);
}

/** The columns with those of several words made narrower, the widest first; null where they still do not fit. */
function narrowed(columns: readonly Column[], width: number): Column[] | null {
  const result = columns.map((column) => ({ ...column, least: leastOf(column) }));
  for (let excess = totalOf(result) - width; excess > 0;) {
    const wide = result.filter((column) => column.width > column.least);
    const [first, second] = wide.toSorted((one, other) => other.width - one.width);
    if (!first) return null;
    const next = Math.max(first.least, first.width - excess, (second?.width ?? 1) - 1);
    excess -= first.width - next;
    first.width = next;
  }
  return result;
}

/** Down to what its longest word takes; its whole width where it has no words to break it at. */
function leastOf({ heading, cells, isRight, width }: Column): number {
  if (isRight || !cells.some(hasBlank)) return width;
  const words = cells.flatMap((cell) => cell.split(" "));
  return Math.min(width, Math.max(WORDS_MINIMUM, widest([heading, ...words])));
}

function hasBlank(text: string): boolean {
  return text.includes(" ");
}

/** A line a row, and further ones where a cell is wider than its column. */
function lines(columns: readonly Column[]): string[] {
  return rowsOf(columns).flat();
}

/** The heading's lines, then those of each row. */
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

/** In lines of whole words. */
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

/** Each row with its cell of the last column on the line below. */
function withBelow(columns: readonly Column[], { heading, cells }: Column): string {
  const below = [heading, ...cells];
  return rowsOf(columns)
    .flatMap((row, index) =>
      below[index] === NOTHING ? row : [...row, BELOW_INDENT + below[index]!],
    )
    .join("\n");
}

/** Each row with its cells of the last columns below, a line each with its heading. */
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

/** A field a line, and an empty line between two rows. */
function blocks(columns: readonly Column[], width: number): string {
  return columns[0]!.cells
    .map((_, row) =>
      columns
        .flatMap(({ heading, cells }) => namedLines("", heading, cells[row]!, columns, width))
        .join("\n"),
    )
    .join("\n\n");
}

/** A heading padded to the widest of its neighbours, and the text beside it, in as many lines as its words take. */
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
