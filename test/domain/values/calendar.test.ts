// Days and months of UTC by their numbers since 1970.

import { expect, test } from "bun:test";
import {
  endOfMonth,
  monthText,
  parseMonth,
  startOfMonth,
  utcDayBounds,
  utcDayOf,
  utcMonthOf,
} from "../../../src/domain/values/calendar.ts";

test("each month from 1970 to 2100 holds its first and its last millisecond, and no other month does", () => {
  for (let month = 0; month < 130 * 12; month++) {
    const [from, to] = [startOfMonth(month), endOfMonth(month)];
    const [first, last] = [from, to].map((at) => new Date(at).toISOString());
    const name = first!.slice(0, 7);
    expect([first, last!.slice(0, 7), last!.slice(10)]).toEqual([
      `${name}-01T00:00:00.000Z`,
      name,
      "T23:59:59.999Z",
    ]);
    expect([from - 1, from, to, to + 1].map(utcMonthOf)).toEqual([
      month - 1,
      month,
      month,
      month + 1,
    ]);
    expect([monthText(month), parseMonth(name)]).toEqual([name, month]);
  }
});

test("what is no month is read as none", () => {
  for (const text of [
    "",
    "2026",
    "2026-00",
    "2026-13",
    "2026-1",
    "26-01",
    "2026-01-01",
    " 2026-01",
  ])
    expect([text, parseMonth(text)]).toEqual([text, null]);
});

test("a day holds its first and its last millisecond", () => {
  const { from, to } = utcDayBounds(Date.parse("2026-11-28T10:00:00Z"));
  expect([from, to].map((at) => new Date(at).toISOString())).toEqual([
    "2026-11-28T00:00:00.000Z",
    "2026-11-28T23:59:59.999Z",
  ]);
  expect([from - 1, from, to, to + 1].map((at) => utcDayOf(at) - utcDayOf(from))).toEqual([
    -1, 0, 0, 1,
  ]);
});
