// Random amounts, prices and quantities, with edge cases more often.

import fc from "fast-check";
import { DEPOSIT_LIMIT_MICROS } from "../../../src/domain/ledger/money.ts";

/** Micros up to the largest balance a credit may lead to. */
export const anyMicros = fc.oneof(
  fc.integer({ min: 0, max: 9_000_000_000_999_999 }),
  fc.integer({ min: 0, max: 2_000_000 }),
  fc.constantFrom(
    0,
    1,
    10,
    999_999,
    1_000_000,
    2 ** 33 * 1e6 - 1,
    2 ** 33 * 1e6,
    2 ** 33 * 1e6 + 1,
  ),
);

/** Micros of a balance, which refunds can raise to what was deposited: often about 2^53, where doubles end. */
export const anyBalance = fc.oneof(
  fc.bigInt({ min: 0n, max: DEPOSIT_LIMIT_MICROS }),
  fc.bigInt({ min: 2n ** 53n - 1000n, max: 2n ** 53n + 1000n }),
  fc.constantFrom(2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, DEPOSIT_LIMIT_MICROS),
  anyMicros.map(BigInt),
);

/** Prices in micros: 0.000001, 2.32, 33.333333 and others. */
export const anyPrice = fc.oneof(
  fc.constantFrom(0, 1, 999, 1_000, 1_001, 2_320_000, 33_333_333, 1_000_000_000_000_000),
  fc.integer({ min: 0, max: 100_000_000 }),
);

export const anyQuantity = fc.oneof(
  fc.constantFrom(1, 3, 7, 999, 1_000, 1_001, 1_000_000_000),
  fc.integer({ min: 1, max: 1_000_000_000 }),
  fc.integer({ min: 1, max: 20_000 }),
);
