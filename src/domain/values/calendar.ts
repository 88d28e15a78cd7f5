// Days and months of UTC, each as its number since January 1970.

import { DAY_MS } from "./spans.ts";

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

export function utcDayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** Returns the first and the last millisecond of the day of a time. */
export function utcDayBounds(time: number): { from: number; to: number } {
  const from = utcDayOf(time) * DAY_MS;
  return { from, to: from + DAY_MS - 1 };
}

export function utcMonthOf(time: number): number {
  const date = new Date(time);
  return monthOf(date.getUTCFullYear(), date.getUTCMonth());
}

/** Returns the first millisecond of a month. */
export function startOfMonth(month: number): number {
  return Date.UTC(1970, month);
}

/** Returns the last millisecond of a month. */
export function endOfMonth(month: number): number {
  return startOfMonth(month + 1) - 1;
}

/** Returns a month as `2026-11`. */
export function monthText(month: number): string {
  return new Date(startOfMonth(month)).toISOString().slice(0, 7);
}

/** Parses a month such as `2026-11`; null when malformed. */
export function parseMonth(text: string): number | null {
  const [, year, month] = MONTH.exec(text) ?? [];
  return year === undefined ? null : monthOf(Number(year), Number(month) - 1);
}

function monthOf(year: number, index: number): number {
  return (year - 1970) * 12 + index;
}
