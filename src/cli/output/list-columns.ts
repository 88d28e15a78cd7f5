// Adds `--wide` and `--columns`, which choose the columns that a list shows to a person. `--json` has every member.

import { type Command, InvalidArgumentError, Option } from "commander";
import { type Cell, type Row, table } from "./text-table.ts";

/** The function for the cell of each column, by its heading in lower case. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>;

export interface ColumnOptions {
  wide?: true;
  /** Headings of the chosen columns. */
  columns?: string[];
}

/** The columns of a list. `shown`: the default columns, without --wide or --columns. */
export interface List<Item> {
  columns: Columns<Item>;
  shown: readonly string[];
  /** Text for an empty list. */
  empty: string;
}

export function addColumns<Item>(command: Command, { columns }: List<Item>): Command {
  const names = new Map(Object.keys(columns).map((heading) => [nameOf(heading), heading]));
  const all = [...names.keys()].join(", ");
  const parse = (text: string) =>
    text.split(",").map((name) => {
      const heading = names.get(name.trim().toLowerCase());
      if (heading !== undefined) return heading;
      throw new InvalidArgumentError(`must be some of ${all}.`);
    });
  return command
    .addOption(new Option("--wide", "all columns").conflicts("columns"))
    .addOption(
      new Option("--columns <names>", `only these columns, in this sequence: ${all}`).argParser(
        parse,
      ),
    );
}

export function listTable<Item>(
  { columns, shown, empty }: List<Item>,
  items: readonly Item[],
  options: ColumnOptions,
): string {
  const headings = options.columns ?? (options.wide ? Object.keys(columns) : shown);
  const rowOf = (item: Item): Row =>
    Object.fromEntries(headings.map((heading) => [heading, columns[heading]!(item)]));
  return table(items.map(rowOf), empty);
}

/** Returns the column's name on the command line, such as `charge-usd`. */
function nameOf(heading: string): string {
  return heading.replaceAll(" ", "-");
}
