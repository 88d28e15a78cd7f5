// Pages of a list. A cursor is a number, never a time or an offset, so that new rows do not shift the next page. The
// SQL that finds the rows of a page is in newest-entries.ts.

import type { TimedTable, Reader, Span, TimeWindow } from "./port.ts";
import { number } from "./table-definition.ts";

export interface Page<Row> {
  /** Newest first. */
  rows: Row[];
  /** The number below which the next page begins; null at the end of the list. */
  next: number | null;
}

/** Limit for the rows of a page. */
export const ROWS_LIMIT = 200;

/** The part of a list from which a page is taken. */
export interface ListPart {
  account: number;
  window: TimeWindow;
  /** Rows with this number or a higher one are left out. */
  below: number;
}

/** The ranges of row numbers to read for a part of a list, newest first. */
export function spansBelow(
  reader: Reader,
  table: TimedTable,
  { account, window, below }: ListPart,
): Span[] {
  return reader
    .spans(table, account, window)
    .filter(({ first }) => first < below)
    .map(({ first, last }) => ({ first, last: Math.min(last, below - 1) }));
}

/** The parameters of every page's query: numbers from `first` to `last`. */
export const LIST_PARAMETERS = { account: number, first: number, last: number, limit: number };
/** The additional parameters of a list with a time window. */
export const WINDOW_PARAMETERS = { from: number, to: number };

/** The values of WINDOW_PARAMETERS. */
export function timesOf({ from, to }: TimeWindow): { from: number; to: number } {
  return { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER };
}

export function isTimed({ from, to }: TimeWindow): boolean {
  return from !== null || to !== null;
}
