// Lists of the command line: as many rows as were asked for, read page by page, so that no read is long.

import { type Command, Option } from "commander";
import type { TimeWindow } from "../db/port.ts";
import { ROWS_LIMIT } from "../db/pages.ts";
import type { Awaitable } from "../db/port.ts";
import { printError } from "./output.ts";
import { limit, since, until } from "./values.ts";

export interface PageOptions {
  limit?: number;
}

interface Found<Row, Cursor> {
  rows: Row[];
  /** Where the next page begins; null at the end of the list. */
  next: Cursor | null;
}

/** `--limit`, without a default all, and `--cursor`, which names a row: the list goes on after it. */
export function addPaging(
  command: Command,
  cursor: { what: string; parse: (text: string) => unknown },
  limitDefault?: number,
): Command {
  const most = new Option("--limit <number>", "at most this many").argParser(limit);
  if (limitDefault !== undefined) most.default(limitDefault);
  return command
    .addOption(most)
    .option(
      `--cursor <${cursor.what}>`,
      "go on after this one, the last of the page before",
      cursor.parse,
    );
}

/** `--from` and `--to`, both included. `begin`, `end`: other names, beside which these go on. */
export function addWindow(command: Command, begin = "from", end = "to"): Command {
  const from = "a date, a time in ISO 8601, or a duration such as 24h";
  const to = "the same; of a date the whole day";
  if (begin !== "from") {
    command
      .addOption(new Option(`--${begin} <when>`, from).argParser(since).conflicts("from"))
      .addOption(new Option(`--${end} <when>`, to).argParser(until).conflicts("to"))
      .addOption(new Option("--from <when>", from).argParser(since).hideHelp())
      .addOption(new Option("--to <when>", to).argParser(until).hideHelp());
    return command;
  }
  return command.option("--from <when>", from, since).option("--to <when>", to, until);
}

export function windowOf({
  from,
  to,
}: {
  from?: number | undefined;
  to?: number | undefined;
}): TimeWindow {
  return { from: from ?? null, to: to ?? null };
}

/** Reads pages until there are `limit` rows, or no more. */
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

/** Below a table that `--limit` cut off. A program sees it by the number of rows. */
export function printMore(
  { json, limit: most }: PageOptions & { json?: true },
  rows: readonly unknown[],
  cursor: () => string | number,
): void {
  if (!json && rows.length === most) printError(`more may follow: add --cursor ${cursor()}`);
}
