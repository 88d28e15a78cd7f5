// Reads the lists of the command line page by page up to the requested number of rows, so that no read is long.

import { type Command, Option } from "commander";
import type { TimeWindow } from "../../db/port/port.ts";
import { ROWS_LIMIT } from "../../db/port/pages.ts";
import type { Awaitable } from "../../db/port/port.ts";
import { printError } from "./output.ts";
import { limit, since, until } from "../kernel/values.ts";

export interface PageOptions {
  limit?: number;
}

interface Found<Row, Cursor> {
  rows: Row[];
  /** The cursor of the next page; null at the end of the list. */
  next: Cursor | null;
}

/** Adds `--limit`, by default all rows, and `--cursor`, which names the row that the list continues after. */
export function addPaging(
  command: Command,
  cursor: { what: string; parse: (text: string) => unknown },
  limitDefault?: number,
): Command {
  const most = new Option("--limit <number>", "at most this many rows").argParser(limit);
  if (limitDefault !== undefined) most.default(limitDefault);
  return command
    .addOption(most)
    .option(
      `--cursor <${cursor.what}>`,
      "continue after this cursor, which the previous page printed",
      cursor.parse,
    );
}

export interface WindowOptions {
  since?: number;
  until?: number;
  /** Former names of `since` and `until`. */
  from?: number;
  to?: number;
}

/** Adds `--since` and `--until`, both inclusive. `--from` and `--to` mean the same. */
export function addWindow(command: Command): Command {
  const begin = "a date, a time in ISO 8601, or a duration such as 24h";
  const end = "like --since; a date includes the whole day";
  return command
    .addOption(new Option("--since <when>", begin).argParser(since).conflicts("from"))
    .addOption(new Option("--until <when>", end).argParser(until).conflicts("to"))
    .addOption(new Option("--from <when>", begin).argParser(since).hideHelp())
    .addOption(new Option("--to <when>", end).argParser(until).hideHelp())
    .hook("preAction", (running) => {
      const { from, to } = windowOf(running.opts());
      if (from !== null && to !== null && from > to) {
        running.error("error: --since must be at or before --until.");
      }
    });
}

export function windowOf(options: WindowOptions): TimeWindow {
  const { since: begin = options.from, until: end = options.to } = options;
  return { from: begin ?? null, to: end ?? null };
}

/** Keeps the rows that came about within the window. */
export function inWindow<Row>(
  options: WindowOptions,
  rows: readonly Row[],
  timeOf: (row: Row) => number,
): Row[] {
  const { from, to } = windowOf(options);
  return rows.filter((row) => timeOf(row) >= (from ?? 0) && timeOf(row) <= (to ?? Infinity));
}

/** Reads pages until there are `limit` rows or the list ends. */
export async function readPages<Row, Cursor>(
  options: PageOptions,
  begin: Cursor,
  read: (cursor: Cursor, limit: number) => Awaitable<Found<Row, Cursor>>,
): Promise<Row[]> {
  const most = options.limit ?? Infinity;
  const rows: Row[] = [];
  for (let cursor: Cursor | null = begin; cursor !== null && rows.length < most;) {
    const page: Found<Row, Cursor> = await read(cursor, Math.min(most - rows.length, ROWS_LIMIT));
    rows.push(...page.rows);
    cursor = page.next;
  }
  return rows;
}

/** Prints the next cursor below a table that `--limit` may have cut off. With --json it prints nothing. */
export function printMore(
  { json, limit: most }: PageOptions & { json?: true },
  rows: readonly unknown[],
  cursor: () => string | number,
): void {
  if (!json && rows.length === most) printError(`more may follow: add --cursor ${cursor()}`);
}
