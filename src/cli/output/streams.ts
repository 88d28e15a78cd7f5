// Prints lists of any length in steps. The next step is read when stdout has taken the one before, so that neither the
// memory nor a read of the database grows with the list.

import type { Awaitable } from "../../db/port/port.ts";

/** Limit for the rows of one read, which takes some milliseconds. */
const STEP_ROWS = 1000;

/** Reads the page of a list that follows a cursor. `next`: the cursor of the page after it; null at the end. */
export type PageReader<Row, Cursor> = (
  cursor: Cursor,
  limit: number,
) => Awaitable<{ rows: Row[]; next: Cursor | null }>;

/** Writes text to stdout and waits until it is taken. */
export async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise<void>((resolve) => void process.stdout.once("drain", resolve));
}

/** Writes one line for each row, at most `most` of them. */
export async function writePages<Row, Cursor>(
  begin: Cursor,
  most: number,
  read: PageReader<Row, Cursor>,
  line: (row: Row) => string,
): Promise<void> {
  await eachPage(begin, most, read, (rows) => rows.map((row) => `${line(row)}\n`).join(""));
}

/** Writes all rows as one JSON list. */
export async function writeJsonPages<Row, Cursor>(
  begin: Cursor,
  read: PageReader<Row, Cursor>,
  json: (row: Row) => string,
): Promise<void> {
  let separator = "[";
  await eachPage(begin, Infinity, read, (rows) => {
    if (rows.length === 0) return "";
    const text = separator + rows.map(json).join(",");
    separator = ",";
    return text;
  });
  await write(separator === "[" ? "[]\n" : "]\n");
}

async function eachPage<Row, Cursor>(
  begin: Cursor,
  most: number,
  read: PageReader<Row, Cursor>,
  textOf: (rows: readonly Row[]) => string,
): Promise<void> {
  let left = most;
  for (let cursor: Cursor | null = begin; cursor !== null && left > 0;) {
    const page: { rows: Row[]; next: Cursor | null } = await read(
      cursor,
      Math.min(left, STEP_ROWS),
    );
    await write(textOf(page.rows));
    left -= page.rows.length;
    cursor = page.next;
  }
}
