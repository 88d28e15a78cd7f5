// What a price leaves over a rate: the same judgement as a sync's, and margins that add up.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";
import { fallsBelowCost, type Margin, marginOf } from "../../../src/domain/catalogue/margins.ts";
import { PRICE_UNITS } from "../../../src/domain/catalogue/services.ts";
import { isBelowCost } from "../../../src/domain/providers/upstream-services.ts";

const RATES = fc
  .tuple(fc.nat(10_000), fc.nat(999_999_999))
  .map(([whole, part]) => `${whole}.${String(part).padStart(9, "0")}`);

test("a price is below cost exactly when a sync says so", () => {
  fc.assert(
    fc.property(
      fc.nat(100_000_000),
      fc.constantFrom(...PRICE_UNITS),
      fc.integer({ min: 1, max: 10_000 }),
      RATES,
      fc.boolean(),
      (priceMicros, per, max, rate, isPackage) => {
        const unit = isPackage ? "order" : "1000";
        const margin = marginOf(priceMicros, { per, max }, { rate, unit }, "1");
        const service = { priceMicros, per, max };
        const expected = isBelowCost(service, parseDecimal(rate)!, isPackage);
        expect(margin?.isBelowCost ?? false).toBe(expected);
      },
    ),
  );
});

test.each([
  [1_000_000, "1000", "0.75", "1", 750_000, "25.0"],
  [1_000_000, "1000", "1.2", "1", 1_200_000, "-20.0"],
  [1_000_000, "1000", "1.0001", "1", 1_000_100, "-0.1"],
  [1_000_000, "1000", "2", "0.25", 500_000, "50.0"],
  [3_000, "1", "1", "1", 1_000, "66.6"],
  [1, "1", "0.0015", "1", 2, "-100.0"],
  [5_000_000, "order", "1", "1", 100_000, "98.0"],
  [0, "1000", "1", "1", 1_000_000, null],
] as const)(
  "%d micros per %s at a rate of %s × %s cost %d: %s %",
  (price, per, rate, usd, costMicros, percent) => {
    expect(marginOf(price, { per, max: 100 }, { rate, unit: "1000" }, usd)).toEqual({
      costMicros,
      percent,
      isBelowCost: price < costMicros,
    });
  },
);

test.each<
  [before: [number, boolean | null] | null, after: [number, boolean | null], asks: boolean]
>([
  [null, [5, true], true],
  [null, [5, false], false],
  [null, [5, null], false],
  [[6, false], [5, true], true],
  [[5, null], [5, true], true],
  [[5, true], [5, true], false],
  [[5, true], [6, true], false],
  [[5, true], [4, true], true],
  [[5, true], [9, false], false],
])("from %j to %j falls below cost: %p", (before, after, expected) => {
  const soldAt = ([priceMicros, isBelowCost]: [number, boolean | null]) => {
    const margin: Margin | null =
      isBelowCost === null ? null : { costMicros: 1, isBelowCost, percent: null };
    return { priceMicros, margin };
  };
  expect(fallsBelowCost(before && soldAt(before), soldAt(after))).toBe(expected);
});
