// The charge of an order. docs/specification/ledger.md#amounts-charge.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chargeMicros } from "../../../src/domain/orders/charges.ts";
import { anyPrice, anyQuantity } from "../../support/random/random.ts";

describe("chargeMicros", () => {
  test.each([
    ["0.000001 per 1000, one unit", 1, "1000", 1, 1],
    ["0.000001 per 1000, 1000 units", 1, "1000", 1000, 1],
    ["0.000001 per 1000, 1001 units", 1, "1000", 1001, 2],
    ["2.32 per 1000, 100 units", 2_320_000, "1000", 100, 232_000],
    ["33.333333 per 1000, one unit", 33_333_333, "1000", 1, 33_334],
    ["33.333333 per 1000, 999 units", 33_333_333, "1000", 999, 33_300_000],
    ["33.333333 each, 3 units", 33_333_333, "1", 3, 99_999_999],
    ["2.32 an order of 1000", 2_320_000, "order", 1000, 2_320_000],
    ["nothing", 0, "1000", 1_000_000_000, 0],
  ] as const)("%s", (_title, price, per, quantity, charge) => {
    expect(chargeMicros(price, per, quantity)).toBe(charge);
  });

  test("is the exact price rounded up to a whole micro, whatever the unit", () => {
    fc.assert(
      fc.property(anyPrice, anyQuantity, (price, quantity) => {
        const product = BigInt(price) * BigInt(quantity);
        const thousandth = (product + 999n) / 1000n;
        expect(chargeMicros(price, "order", quantity)).toBe(price);
        expect(chargeMicros(price, "1000", quantity)).toBe(Number(thousandth));
        expect(chargeMicros(price, "1", quantity)).toBe(Number(product));
      }),
    );
  });
});
