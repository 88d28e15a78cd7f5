// Results on stdout: a table or lines for a person, one JSON document for a program.

import Table from "cli-table3";

const PLAIN_TABLE = {
  chars: {
    top: "", "top-mid": "", "top-left": "", "top-right": "",
    bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "",
    left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  ",
  },
  style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
}; // prettier-ignore

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;

/** Prints `result` as JSON, or else what `text` makes of it. */
export function print<T>(json: true | undefined, result: T, text: (result: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(result) : text(result)}\n`);
}

/** Columns as the rows name them, numbers and amounts (`… usd`) to the right; `empty` when there is no row. */
export function table(rows: readonly Row[], empty: string): string {
  const [first] = rows;
  if (!first) return empty;
  const columns = Object.keys(first);
  const lines = new Table({
    ...PLAIN_TABLE,
    head: columns.map((column) => column.toUpperCase()),
    colAligns: columns.map((column) =>
      typeof first[column] === "number" || column.endsWith("usd") ? "right" : "left",
    ),
  });
  for (const row of rows) lines.push(columns.map((column) => cell(row[column])));
  return lines.toString().replace(/[ \t]+$/gm, "");
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
  return String(value);
}
