// Time windows of reports: whole days, which are read from their totals, and the parts of days around them.

import type { TimeWindow } from "../db/port/port.ts";
import type { Times } from "../db/reports/reports.ts";
import { DAY_MS } from "../domain/values/spans.ts";

/** Rows summed in one step, which takes some milliseconds. */
export const STEP = 4000;
/** Last day of a window without an end, after all rows. */
const LAST_DAY = 100_000_000;

export function timesOf({ from, to }: TimeWindow): Times {
  return { from: Math.max(from ?? 0, 0), to: to ?? (LAST_DAY + 1) * DAY_MS - 1 };
}

/** Splits a window into whole days and the remaining parts. */
export function splitWindow(window: TimeWindow): {
  days: { first: number; last: number };
  parts: Times[];
} {
  const { from: start, to: end } = timesOf(window);
  const first = Math.ceil(start / DAY_MS);
  const last = Math.floor((end + 1) / DAY_MS) - 1;
  const days = { first, last };
  if (first > last) return { days, parts: start > end ? [] : [{ from: start, to: end }] };
  const before = { from: start, to: first * DAY_MS - 1 };
  const behind = { from: (last + 1) * DAY_MS, to: end };
  return { days, parts: [before, behind].filter((part) => part.from <= part.to) };
}

/** Lets timers and sockets be handled between two steps. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
