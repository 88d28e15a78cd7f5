// Prices from rates, by every rule for rounding and by markups of categories.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AMOUNT_LIMIT_MICROS } from "../../../src/domain/ledger/money.ts";
import {
  changedMarkups,
  PRICE_ROUNDINGS,
  priceAt,
  type PriceRounding,
  pricingOf,
} from "../../../src/domain/providers/pricing.ts";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";
import { priceWithMarkup } from "../../../src/domain/providers/upstream-services.ts";

const priceOf = (
  rate: string,
  markup: string,
  roundPrices: PriceRounding = "none",
  category = "Likes",
  categoryMarkups = "{}",
) => priceAt(parseDecimal(rate)!, category, pricingOf(markup, { roundPrices, categoryMarkups }));

describe("prices are rounded up", () => {
  test.each<[rate: string, markup: string, expected: Record<PriceRounding, number | null>]>([
    [
      "0.90",
      "30",
      {
        none: 1_170_000,
        "0.0001": 1_170_000,
        "0.001": 1_170_000,
        "0.01": 1_170_000,
        "0.1": 1_200_000,
        "1": 2_000_000,
        "x.xx9": 1_179_000,
        "x.x9": 1_190_000,
        "x.99": 1_990_000,
      },
    ],
    [
      "0.0123456",
      "10",
      {
        none: 13_581,
        "0.0001": 13_600,
        "0.001": 14_000,
        "0.01": 20_000,
        "0.1": 100_000,
        "1": 1_000_000,
        "x.xx9": 19_000,
        "x.x9": 90_000,
        "x.99": 990_000,
      },
    ],
    [
      "0.0000001",
      "0",
      {
        none: 1,
        "0.0001": 100,
        "0.001": 1_000,
        "0.01": 10_000,
        "0.1": 100_000,
        "1": 1_000_000,
        "x.xx9": 9_000,
        "x.x9": 90_000,
        "x.99": 990_000,
      },
    ],
    // Already as the rule wants it: unchanged.
    [
      "1.99",
      "0",
      {
        none: 1_990_000,
        "0.0001": 1_990_000,
        "0.001": 1_990_000,
        "0.01": 1_990_000,
        "0.1": 2_000_000,
        "1": 2_000_000,
        "x.xx9": 1_999_000,
        "x.x9": 1_990_000,
        "x.99": 1_990_000,
      },
    ],
    // Free stays free.
    ["0", "50", Object.fromEntries(PRICE_ROUNDINGS.map((each) => [each, 0])) as never],
    // The highest price: what rounds above it is no price.
    [
      "999999999.995",
      "0",
      {
        none: 999_999_999_995_000,
        "0.0001": 999_999_999_995_000,
        "0.001": 999_999_999_995_000,
        "0.01": AMOUNT_LIMIT_MICROS,
        "0.1": AMOUNT_LIMIT_MICROS,
        "1": AMOUNT_LIMIT_MICROS,
        "x.xx9": 999_999_999_999_000,
        "x.x9": null,
        "x.99": null,
      },
    ],
  ])("%s with %s %%", (rate, markup, expected) => {
    const prices = PRICE_ROUNDINGS.map((rounding) => [rounding, priceOf(rate, markup, rounding)]);
    expect(Object.fromEntries(prices)).toEqual(expected);
  });

  test("never below the unrounded price, by less than one step, and rounding again changes nothing", () => {
    const rate = fc.tuple(fc.nat(99_999), fc.nat(999_999)).map((each) => each.join("."));
    const markup = fc.tuple(fc.nat(500), fc.nat(99)).map((each) => each.join("."));
    const steps: Record<PriceRounding, number> = {
      none: 1,
      "0.0001": 100,
      "0.001": 1000,
      "0.01": 10_000,
      "0.1": 100_000,
      "1": 1_000_000,
      "x.xx9": 10_000,
      "x.x9": 100_000,
      "x.99": 1_000_000,
    };
    fc.assert(
      fc.property(rate, markup, fc.constantFrom(...PRICE_ROUNDINGS), (given, percent, rounding) => {
        const exact = priceWithMarkup(parseDecimal(given)!, parseDecimal(percent)!)!;
        const price = priceOf(given, percent, rounding)!;
        expect(price).toBeGreaterThanOrEqual(exact);
        expect(price - exact).toBeLessThan(steps[rounding]);
        const decimal = (price / 1_000_000).toFixed(6);
        expect(priceOf(decimal, "0", rounding)).toBe(price);
        if (rounding.startsWith("x") && price > 0) {
          expect(decimal.replace(/0+$/, "")).toMatch(new RegExp(`${rounding.slice(-1)}$`));
        }
      }),
    );
  });
});

describe("the markup of a category", () => {
  const markups = changedMarkups("{}", { Likes: "100", Views: "0" });

  test.each([
    ["replaces the provider's for that category", "Likes", 2_000_000],
    ["may be 0", "Views", 1_000_000],
    ["leaves other categories as they were", "Followers", 1_300_000],
    ["is matched by the exact name", "likes", 1_300_000],
  ])("%s", (_, category, expected) => {
    expect(priceOf("1", "30", "none", category, markups)).toBe(expected);
  });

  test("is rounded like every price", () => {
    expect(priceOf("1.001", "30", "x.99", "Likes", markups)).toBe(2_990_000);
  });

  test("is added, replaced and removed by name, and others stay", () => {
    const changed = changedMarkups(markups, { Likes: null, Views: "5", "a=b": "7" });
    expect(JSON.parse(changed)).toEqual({ Views: "5", "a=b": "7" });
    expect(changedMarkups(changed, {})).toBe(changed);
  });
});
