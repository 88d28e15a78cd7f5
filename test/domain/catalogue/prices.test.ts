// What a reseller pays: its own price, or the catalogue's less its discount, rounded up to a micro.

import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { AMOUNT_LIMIT_MICROS } from "../../../src/domain/ledger/money.ts";
import {
  FULL_DISCOUNT_PPM,
  parseDiscount,
  priceFor,
} from "../../../src/domain/catalogue/prices.ts";

const list = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const ppm = fc.integer({ min: 0, max: FULL_DISCOUNT_PPM });

test("a discounted price is exact at any size: the product in big integers, rounded up", () => {
  fc.assert(
    fc.property(list, ppm, (price, discount) => {
      const full = BigInt(FULL_DISCOUNT_PPM);
      const scaled = BigInt(price) * (full - BigInt(discount));
      expect(BigInt(priceFor(price, null, discount))).toBe((scaled + full - 1n) / full);
    }),
  );
});

test("a larger discount never makes a higher price, and no discount makes one above the catalogue's", () => {
  fc.assert(
    fc.property(list, ppm, ppm, (price, one, other) => {
      const [less, more] = one < other ? [one, other] : [other, one];
      expect(priceFor(price, null, more)).toBeLessThanOrEqual(priceFor(price, null, less));
      expect(priceFor(price, null, less)).toBeLessThanOrEqual(price);
    }),
  );
});

test.each([
  [2_320_000, 100_000, 2_088_000],
  [1, 1, 1],
  [1, 999_999, 1],
  [1, FULL_DISCOUNT_PPM, 0],
  [3, 333_333, 3],
  [AMOUNT_LIMIT_MICROS, 500_000, AMOUNT_LIMIT_MICROS / 2],
])("%d micros less %d ppm are %d", (price, discount, expected) => {
  expect(priceFor(price, undefined, discount)).toBe(expected);
});

test("a reseller with its own price pays that price, even 0, whatever its discount", () => {
  fc.assert(
    fc.property(list, list, ppm, (price, own, discount) => {
      expect(priceFor(price, own, discount)).toBe(own);
    }),
  );
});

describe("percentages", () => {
  test.each([
    ["0", 0],
    ["10", 100_000],
    ["12.5%", 125_000],
    ["0.0001", 1],
    ["100%", FULL_DISCOUNT_PPM],
    ["100.0000", FULL_DISCOUNT_PPM],
  ])("%s are %d ppm", (text, expected) => {
    expect(parseDiscount(text)).toBe(expected);
  });

  test.each(["", "-1", "100.0001", "101", "0.00001", "1e1", "10 %", "%", "ten", "."])(
    "%p is not a percentage",
    (text) => {
      expect(parseDiscount(text)).toBeNull();
    },
  );
});
