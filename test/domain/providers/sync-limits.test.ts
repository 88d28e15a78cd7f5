// Limits of scheduled syncs: exact, in both directions.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";
import type { SyncedFields, SyncPlan } from "../../../src/domain/providers/sync-plan.ts";
import { beyondLimits } from "../../../src/domain/providers/sync-limits.ts";

const fieldsAt = (priceMicros: number): SyncedFields => ({
  name: "n",
  category: "c",
  priceMicros,
  min: 1,
  max: 9,
  per: "1000",
  type: "default",
  dripfeed: false,
  cancel: false,
  refill: false,
});

function planOf(prices: readonly (readonly [number, number])[], gone = 0): SyncPlan {
  return {
    added: [],
    updated: prices.map(([before, after], at) => ({
      id: `s${at}`,
      before: fieldsAt(before),
      after: fieldsAt(after),
      returns: false,
    })),
    unchanged: 0,
    deactivated: Array.from({ length: gone }, (_, at) => ({ id: `d${at}`, name: "n" })),
    returned: [],
    routes: [],
    skipped: [],
    unreadable: [],
    belowCost: [],
  };
}

const beyond = (plan: SyncPlan, percent = "20", deactivations = 1) =>
  beyondLimits(plan, { pricePercent: parseDecimal(percent)!, deactivations });

describe("a price", () => {
  test.each<[before: number, after: number, percent: string, isBeyond: boolean]>([
    [1_000_000, 1_200_000, "20", false],
    [1_000_000, 1_200_001, "20", true],
    [1_000_000, 800_000, "20", false],
    [1_000_000, 799_999, "20", true],
    [3, 4, "33.333333", true],
    [3, 4, "33.333334", false],
    [0, 1, "999999", true],
    [0, 0, "0", false],
    [5, 5, "0", false],
    [5, 6, "0", true],
  ])("from %d to %d micros at %s %%: beyond %p", (before, after, percent, isBeyond) => {
    expect(beyond(planOf([[before, after]]), percent) !== null).toBe(isBeyond);
  });

  test("is judged as exact arithmetic judges it", () => {
    const micros = fc.integer({ min: 0, max: 10 ** 15 });
    const hundredths = fc.integer({ min: 0, max: 99_999_999 });
    fc.assert(
      fc.property(micros, micros, hundredths, (before, after, percent) => {
        const text = `${Math.floor(percent / 100)}.${String(percent % 100).padStart(2, "0")}`;
        const change = BigInt(Math.abs(after - before));
        const isBeyond = change * 10_000n > BigInt(before) * BigInt(percent);
        expect(beyond(planOf([[before, after]]), text) !== null).toBe(isBeyond);
      }),
    );
  });
});

test("names how many prices and services, and the first price", () => {
  expect(beyond(planOf([[1_000_000, 2_000_000]], 2), "12.50")).toBe(
    "1 price would change by more than 12.50 % (s0 from 1 to 2 USD); 2 services would be deactivated, more than 1",
  );
  expect(beyond(planOf([], 1))).toBeNull();
  expect(beyond(planOf([], 1), "20", 0)).toBe("1 service would be deactivated, more than 0");
});
