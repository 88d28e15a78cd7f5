// Limits of a reseller: the edges of periods, what refunds give back, and defaults beside own limits.

import { describe, expect, test } from "bun:test";
import {
  appliedLimits,
  currentUse,
  type LimitUse,
  NO_ORDER_LIMITS,
  NO_OWN_LIMITS,
  needsOpenCount,
  type OrderLimits,
  refuseAboveLimits,
  spentIn,
  useWithSpend,
  withOrder,
} from "../../../src/domain/users/reseller-limits.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";

const at = (text: string) => Date.parse(text);
const NOON = at("2028-02-28T12:00:30.500Z");

/** The use after an order at NOON that charged 60 micros, when 1000 had been spent before the day and 700 before the month. */
const USE: LimitUse = {
  ...useWithSpend(undefined, 1060n, { dayMicros: 60n, monthMicros: 360n }, NOON),
  minuteOrders: 1,
  openOrders: 5,
};

/** The refusal of an order; null: none. */
function refusalOf(limits: Partial<OrderLimits>, use: LimitUse, charge: number, now: number) {
  try {
    refuseAboveLimits({ ...NO_ORDER_LIMITS, ...limits }, use, 1060n, charge, now);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

describe("a period", () => {
  test.each([
    ["the same minute", "2028-02-28T12:00:59.999Z", [1, 60n, 360n, 5]],
    ["the next minute", "2028-02-28T12:01:00.000Z", [0, 60n, 360n, null]],
    ["the last moment of the day", "2028-02-28T23:59:59.999Z", [0, 60n, 360n, null]],
    ["the next day, a leap day", "2028-02-29T00:00:00.000Z", [0, 0n, 360n, null]],
    ["the last moment of the month", "2028-02-29T23:59:59.999Z", [0, 0n, 360n, null]],
    ["the next month", "2028-03-01T00:00:00.000Z", [0, 0n, 0n, null]],
    ["the same month of the next year", "2029-02-28T12:00:30.500Z", [0, 0n, 0n, null]],
    ["a clock that was set back by a day", "2028-02-27T12:00:30.500Z", [0, 0n, 360n, null]],
  ])("counts until its end in UTC: %s", (_, now, counted) => {
    const use = currentUse(USE, 1060n, at(now));
    const { dayMicros, monthMicros } = spentIn(use, 1060n);
    expect([use.minuteOrders, dayMicros, monthMicros, use.openOrders]).toEqual(counted as never);
  });

  test("begins with nothing for a reseller that was not counted before", () => {
    const use = currentUse(undefined, 1060n, NOON);
    expect([use.minuteOrders, spentIn(use, 1060n), use.openOrders]).toEqual([
      0,
      { dayMicros: 0n, monthMicros: 0n },
      null,
    ]);
  });
});

describe("a refund", () => {
  test("of the day gives its spend back", () => {
    const use = currentUse(USE, 1020n, NOON);
    expect(spentIn(use, 1020n)).toEqual({ dayMicros: 20n, monthMicros: 320n });
  });

  test("of more than the day's spend leaves no more room than the limit, now and after the next order", () => {
    const use = currentUse(USE, 900n, NOON);
    expect(spentIn(use, 900n)).toEqual({ dayMicros: 0n, monthMicros: 200n });
    expect(spentIn(currentUse(use, 950n, NOON), 950n).dayMicros).toBe(50n);
  });

  test("of more than was spent, before a limit is set, counts as nothing spent", () => {
    const use = useWithSpend(undefined, 1060n, { dayMicros: -5n, monthMicros: -5n }, NOON);
    expect(spentIn(use, 1060n)).toEqual({ dayMicros: 0n, monthMicros: 0n });
  });
});

describe("an order", () => {
  test.each<[string, Partial<OrderLimits>, number, object | null]>([
    ["exactly at the limit of a minute", { ordersPerMinute: 2 }, 1, null],
    ["above it", { ordersPerMinute: 1 }, 1, { allowed: 1, endsAt: at("2028-02-28T12:01:00Z"), retryAfterSeconds: 30 }],
    ["exactly at the limit of a day", { spendPerDayMicros: 100 }, 40, null],
    ["a micro above it", { spendPerDayMicros: 100 }, 41, { period: "day", limitMicros: 100, leftMicros: 40, endsAt: at("2028-02-29"), retryAfterSeconds: 43_170 }],
    ["above a limit that was lowered", { spendPerDayMicros: 10 }, 1, { period: "day", limitMicros: 10, leftMicros: 0, endsAt: at("2028-02-29"), retryAfterSeconds: 43_170 }],
    ["exactly at the limit of a month", { spendPerMonthMicros: 400 }, 40, null],
    ["a micro above that", { spendPerMonthMicros: 400 }, 41, { period: "month", limitMicros: 400, leftMicros: 40, endsAt: at("2028-03-01"), retryAfterSeconds: 129_570 }],
    ["exactly at the limit of open orders", { openOrders: 6 }, 1, null],
    ["one above it", { openOrders: 5 }, 1, { allowed: 5 }],
    ["without limits", {}, Number.MAX_SAFE_INTEGER, null],
  ])("%s", (_, limits, charge, details) => {
    expect(refusalOf(limits, USE, charge, NOON)?.details ?? null).toEqual(details as never);
  }); // prettier-ignore

  test("above several limits is refused by the first of minute, day, month and open orders", () => {
    const limits = {
      ordersPerMinute: 1,
      spendPerDayMicros: 1,
      spendPerMonthMicros: 1,
      openOrders: 1,
    };
    const codes = [];
    for (const name of Object.keys(limits) as (keyof OrderLimits)[]) {
      const { code, details } = refusalOf(limits, USE, 1, NOON)!;
      codes.push("period" in details! ? `${code} ${details.period}` : code);
      limits[name] = 0;
    }
    expect(codes).toEqual([
      "orders_per_minute_exceeded",
      "spend_limit_exceeded day",
      "spend_limit_exceeded month",
      "open_orders_exceeded",
    ]);
  });

  test("counts one more, and open orders only where they are limited", () => {
    expect(withOrder(USE, true)).toEqual({ ...USE, minuteOrders: 2, openOrders: 6 });
    expect(withOrder(USE, false)).toEqual({ ...USE, minuteOrders: 2, openOrders: null });
  });
});

test.each([
  [0, 5, 1, false],
  [6, 5, 1, false],
  [6, 5, 2, true],
  [5, 5, 1, true],
  [9, null, 1, true],
])(
  "a limit of %p open orders with %p known, before %i more: counted is %p",
  (limit, openOrders, orders, counted) => {
    const limits = { ...NO_ORDER_LIMITS, openOrders: limit };
    expect(needsOpenCount(limits, { ...USE, openOrders }, orders)).toBe(counted);
  },
);

test("a reseller's own limit replaces the default, even if it is 0; without any limit there is no check", () => {
  const defaults = { ...NO_ORDER_LIMITS, openOrders: 5, ordersPerMinute: 3 };
  const own = { ...NO_OWN_LIMITS, openOrders: 0, spendPerDayMicros: 7 };
  expect(appliedLimits(own, defaults)).toEqual({
    openOrders: 0,
    ordersPerMinute: 3,
    spendPerDayMicros: 7,
    spendPerMonthMicros: 0,
  });
  expect(appliedLimits({ ...NO_OWN_LIMITS, openOrders: 0 }, NO_ORDER_LIMITS)).toBeNull();
});
