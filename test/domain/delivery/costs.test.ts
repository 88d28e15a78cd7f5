// Costs are computed from digits: exact at any length, rounded up once.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";
import {
  costByRate,
  costText,
  type CurrencyTerms,
  decideCost,
  decimalText,
  expectedCurrency,
  microsOf,
  multiplyDecimals,
  type OrderCost,
  parseCurrency,
  parseRateToUsd,
} from "../../../src/domain/delivery/costs.ts";

const decimal = fc
  .tuple(fc.nat(999_999), fc.nat(12), fc.integer({ min: 0, max: 999_999_999 }))
  .map(([whole, zeros, fraction]) => `${whole}.${"0".repeat(zeros)}${fraction}`);

/** The value of a decimal, as a fraction over 10^40. */
function fraction(text: string): bigint {
  const [whole = "", rest = ""] = text.split(".");
  return BigInt(whole + rest.padEnd(40, "0"));
}

test("micros are the amount times the rate, rounded up, at any number of digits", () => {
  const property = fc.property(decimal, decimal, (amount, rate) => {
    const product = fraction(amount) * fraction(rate);
    const unit = 10n ** 74n;
    const expected = (product + unit - 1n) / unit;
    const found = microsOf(parseDecimal(amount)!, rate);
    expect(found).toBe(expected > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(expected));
  });
  fc.assert(property, { numRuns: 500 });
});

test("a decimal is written in one form", () => {
  const property = fc.property(decimal, decimal, (a, b) => {
    expect(fraction(decimalText(parseDecimal(a)!))).toBe(fraction(a));
    const product = decimalText(multiplyDecimals(parseDecimal(a)!, parseDecimal(b)!));
    expect(product).not.toMatch(/\.$|\..*0$|^0\d/);
  });
  fc.assert(property, { numRuns: 300 });
  expect(["1.50", "1.5", "0.0", "10", "1e2", "2.5e-3"].map((text) => decimalText(parseDecimal(text)!))) // prettier-ignore
    .toEqual(["1.5", "1.5", "0", "10", "100", "0.0025"]);
});

test("rates are positive decimals and currencies are letter codes; others are refused", () => {
  expect(["1", "0.0120", "1e-3"].map(parseRateToUsd)).toEqual(["1", "0.012", "0.001"]);
  expect(
    ["0", "0.0", "-1", "", "abc", "1,5", " 2 ", `0.${"1".repeat(60)}`].map(parseRateToUsd),
  ).toEqual(Array(8).fill(null));
  expect(["eur", "USD", "USDT"].map(parseCurrency)).toEqual(["EUR", "USD", "USDT"]);
  expect(["", "$", "E", "EURO-LAND", "EU R"].map(parseCurrency)).toEqual(Array(5).fill(null));
});

describe("by rate", () => {
  const text = (...args: Parameters<typeof costByRate>) => decimalText(costByRate(...args));
  const rate = { rate: "0.9", unit: "1000" } as const;
  const pack = { rate: "1", unit: "order" } as const;

  test("the cost is that of the delivered quantity; a cancelled or failed order costs nothing", () => {
    expect(text(rate, 1500, "PROCESSING", 700)).toBe("1.35");
    expect(text(rate, 1500, "COMPLETED", null)).toBe("1.35");
    expect(text(rate, 1500, "PARTIAL", 500)).toBe("0.9");
    expect(text(rate, 1500, "CANCELLED", 500)).toBe("0");
    expect(text(rate, 1500, "FAILED", null)).toBe("0");
  });

  test("a rate per order covers the whole order", () => {
    expect(text(pack, 3, "COMPLETED", null)).toBe("1");
    expect(text(pack, 3, "PARTIAL", 2)).toBe("0.333333333334");
    expect(text(pack, 3, "CANCELLED", null)).toBe("0");
  });
});

describe("decided", () => {
  const dollars: CurrencyTerms = { rateToUsd: "1", currency: null };
  const rupees: CurrencyTerms = { rateToUsd: "0.0125", currency: "INR" };
  const never = () => {
    throw new Error("the rate does not matter");
  };
  const reported = (charge: string, currency: string | null = null) => ({ charge, currency });
  const first = (cost: Partial<OrderCost> = {}): OrderCost => ({
    number: 1,
    basis: "charge",
    amount: "2",
    currency: null,
    rateToUsd: "1",
    costMicros: 2e6,
    ...cost,
  });

  test("a reported charge is the cost; the same charge again changes nothing", () => {
    expect(decideCost(null, reported("2"), never, dollars)).toEqual(first());
    expect(decideCost(first(), reported("2", "USD"), never, dollars)).toBe(null);
    expect(decideCost(first(), reported("1.5"), never, dollars)).toMatchObject({
      number: 2,
      costMicros: 15e5,
    });
    // Not a whole micro.
    expect(decideCost(null, reported("0.0000001"), never, dollars)?.costMicros).toBe(1);
  });

  test("without a charge the rate counts until one is reported", () => {
    const rate = () => parseDecimal("3.000");
    const byRate = decideCost(null, null, rate, rupees)!;
    expect(byRate).toMatchObject({ basis: "rate", amount: "3", costMicros: 37_500 });
    expect(decideCost(byRate, null, rate, rupees)).toBe(null);
    expect(decideCost(byRate, reported("3"), never, rupees)).toMatchObject({
      number: 2,
      basis: "charge",
      costMicros: 37500,
    });
    expect(decideCost(first(), null, rate, dollars)).toBe(null);
    expect(decideCost(null, null, () => null, dollars)).toBe(null);
  });

  test("an order keeps the rate to USD of its first cost", () => {
    const before = first({ rateToUsd: "0.5", costMicros: 1_000_000 });
    expect(decideCost(before, reported("4"), never, rupees)).toMatchObject({
      rateToUsd: "0.5",
      costMicros: 2e6,
    });
  });

  test("another currency costs nothing until its rate is known", () => {
    const foreign = decideCost(first(), reported("160", "INR"), never, dollars)!;
    expect(foreign).toMatchObject({ number: 2, basis: "foreign", costMicros: 0, currency: "INR" });
    expect(decideCost(foreign, reported("160", "INR"), never, dollars)).toBe(null);
    expect(costText(foreign)).toBe("charged 160 INR: not counted, its rate to USD is not known");
    expect(decideCost(foreign, reported("160", "INR"), never, rupees)).toMatchObject({
      number: 3,
      basis: "charge",
      rateToUsd: "0.0125",
      costMicros: 2e6,
    });
  });

  test("a provider with a rate has the currency that it reports first", () => {
    expect(expectedCurrency(dollars)).toBe("USD");
    expect(expectedCurrency({ rateToUsd: "0.9", currency: null })).toBe(null);
    expect(expectedCurrency(rupees)).toBe("INR");
  });
});
