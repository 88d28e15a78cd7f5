// Amounts are exact: every function against BigInt, which cannot round.
// Shows docs/specification/README.md#guarantee-exact.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  AMOUNT_LIMIT_MICROS,
  BALANCE_LIMIT_MICROS,
  formatMicros,
  jsonAmount,
  microsFromNumber,
  multiplyDivideDown,
  multiplyDivideUp,
  parseMicros,
  readExactJson,
  writeExactJson,
} from "../../../src/domain/ledger/money.ts";
import { anyBalance, anyMicros, anyPrice, anyQuantity } from "../../support/random/random.ts";

/** The text of an amount as BigInt would write it. */
function textOf(micros: number | bigint): string {
  const value = BigInt(micros);
  const decimals = String(value % 1_000_000n)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${value / 1_000_000n}${decimals === "" ? "" : `.${decimals}`}`;
}

describe("formatMicros and parseMicros", () => {
  test("write and read every amount exactly", () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        expect(formatMicros(micros)).toBe(textOf(micros));
        expect(parseMicros(formatMicros(micros))).toBe(micros);
      }),
    );
  });

  test("formatMicros writes every balance exactly", () => {
    fc.assert(
      fc.property(anyBalance, (micros) => {
        expect(formatMicros(micros)).toBe(textOf(micros));
        expect(formatMicros(-micros)).toBe(micros === 0n ? "0" : `-${textOf(micros)}`);
      }),
    );
  });

  test("formatMicros puts one sign before the whole amount", () => {
    expect([-1, -1_500_000, 0].map(formatMicros)).toEqual(["-0.000001", "-1.5", "0"]);
  });

  test.each([
    ["0", 0],
    ["0.0", 0],
    ["007.50", 7_500_000],
    ["2.32", 2_320_000],
    ["0.000001", 1],
    ["9007199254.740991", Number.MAX_SAFE_INTEGER],
  ])("parseMicros reads %s", (text, micros) => {
    expect(parseMicros(text)).toBe(micros);
  });

  test.each([
    "", " ", "1 ", " 1", "-1", "+1", ".5", "1.", "1.0000000", "1e2", "1,5", "0x1", "1_0", "NaN",
    "Infinity", "1.5.5", "٣", "1\n", "9007199254.740992", "99999999999",
  ])("parseMicros refuses %j", (text) => {
    expect(parseMicros(text)).toBeNull();
  }); // prettier-ignore
});

describe("jsonAmount", () => {
  test("writes at most six decimals, no exponent and no extra digits", () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        const written = JSON.stringify({ amount: jsonAmount(micros) });
        expect(written).toBe(`{"amount":${textOf(micros)}}`);
      }),
      { numRuns: 1000 },
    );
  });

  test("is exact to the last micro of the largest amount", () => {
    for (const micros of [BALANCE_LIMIT_MICROS, 9_000_000_000_999_999, Number.MAX_SAFE_INTEGER]) {
      expect(JSON.stringify(jsonAmount(micros))).toBe(textOf(micros));
    }
  });

  test("is exact to the last micro of every balance, on either side of 2^53", () => {
    fc.assert(
      fc.property(anyBalance, (micros) => {
        expect(JSON.stringify(jsonAmount(micros))).toBe(textOf(micros));
        expect(JSON.stringify([jsonAmount(-micros)])).toBe(`[${formatMicros(-micros)}]`);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("exact JSON", () => {
  test("gives back what was written, each bigint as a number with all its digits", () => {
    fc.assert(
      fc.property(anyBalance, fc.string(), (balance, note) => {
        const text = writeExactJson({ balance, note, count: 3, none: null });
        expect(text).toStartWith(`{"balance":${balance},`);
        const read = readExactJson(text) as { balance: number | bigint };
        expect(BigInt(read.balance)).toBe(balance);
        expect(read).toMatchObject({ note, count: 3, none: null });
      }),
    );
  });
});

describe("microsFromNumber", () => {
  test("reads every amount that six decimals can write", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: AMOUNT_LIMIT_MICROS }), (micros) => {
        expect(microsFromNumber(JSON.parse(textOf(micros)) as number)).toBe(micros);
      }),
      { numRuns: 1000 },
    );
  });

  test("refuses a number with a seventh decimal", () => {
    const decimals = fc.tuple(
      fc.integer({ min: 0, max: 999_999_999 }),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(decimals, ([micros, seventh]) => {
        const whole = BigInt(micros);
        const text = `${whole / 1_000_000n}.${String(whole % 1_000_000n).padStart(6, "0")}${seventh}`;
        expect(microsFromNumber(Number(text))).toBeNull();
      }),
    );
  });

  test.each([
    0,
    -0,
    -1,
    -0.000001,
    1e-7,
    Number.NaN,
    Infinity,
    -Infinity,
    1e300,
    5e-324,
    0.1 + 0.2,
  ])("refuses %p", (value) => {
    expect(microsFromNumber(value)).toBeNull();
  });
});

describe("multiplyDivide", () => {
  test("rounds up, or down, by less than one, at any size", () => {
    fc.assert(
      fc.property(anyPrice, anyQuantity, anyQuantity, (a, b, c) => {
        const product = BigInt(a) * BigInt(b);
        fc.pre(product / BigInt(c) < BigInt(Number.MAX_SAFE_INTEGER));
        const up = BigInt(multiplyDivideUp(a, b, c)) * BigInt(c);
        const down = BigInt(multiplyDivideDown(a, b, c)) * BigInt(c);
        expect(up >= product && up - product < BigInt(c)).toBe(true);
        expect(down <= product && product - down < BigInt(c)).toBe(true);
      }),
    );
  });
});
