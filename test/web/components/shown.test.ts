// Amounts as pages show them.

import { expect, test } from "bun:test";
import { centsText, moneyText } from "../../../src/web/components/shown.tsx";

test.each([
  [0, "0.00"],
  [1, "0.000001"],
  [-9_999, "-0.009999"],
  [10_000, "0.01"],
  [14_999, "0.01"],
  [15_000, "0.02"],
  [-15_000, "-0.02"],
  [999_995_000, "1\u202f000.00"],
  [9_007_199_254_740_993n, "9\u202f007\u202f199\u202f254.74"],
] as const)(
  "tiles show %p micros as %p: two decimals, but no amount as nothing",
  (micros, text) => {
    expect(centsText(micros)).toBe(text);
  },
);

test("what is shown with two decimals is within half a cent of the amount, or the amount itself", () => {
  for (let micros = -25_000; micros <= 25_000; micros += 7) {
    const shown = Number(centsText(micros)) * 1e6;
    const exact = Number(moneyText(micros)) * 1e6;
    expect(Math.round(exact)).toBe(micros);
    expect(Math.abs(shown - micros)).toBeLessThanOrEqual(5_000.001);
  }
});
