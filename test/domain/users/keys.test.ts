// Keys: 131 bits of randomness in base62, and a checksum that tells a mistyped key from an unknown one.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatKey,
  hashKey,
  isKeyWellFormed,
  KEY_RANDOM_BYTES,
  KEY_TYPES,
  keyTypeMay,
  startOfKey,
  looksLikeTestKey,
  shownStart,
} from "../../../src/domain/users/keys.ts";

const anyKey = fc
  .uint8Array({ minLength: KEY_RANDOM_BYTES, maxLength: KEY_RANDOM_BYTES })
  .map(formatKey);

test("a key reads rk_ and 28 letters and digits, and carries at least 128 bits", () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      expect(key).toMatch(/^rk_[0-9A-Za-z]{28}$/);
      expect(isKeyWellFormed(key)).toBe(true);
    }),
  );
  expect(22 * Math.log2(62)).toBeGreaterThan(128);
  expect(KEY_RANDOM_BYTES * 8).toBeGreaterThan(128);
});

test("every bit of the randomness that fits makes another key", () => {
  const keys = new Set<string>();
  for (let bit = 0; bit < 128; bit++) {
    const random = new Uint8Array(KEY_RANDOM_BYTES);
    random[KEY_RANDOM_BYTES - 1 - (bit >> 3)] = 1 << (bit & 7);
    keys.add(formatKey(random));
  }
  expect(keys.size).toBe(128);
});

test("one mistyped character is always noticed", () => {
  const place = fc.integer({ min: 3, max: 30 });
  const other = fc.constantFrom("0", "a", "Z", "z", "9", "_", "é", " ");
  fc.assert(
    fc.property(anyKey, place, other, (key, index, character) => {
      fc.pre(key[index] !== character);
      const typed = key.slice(0, index) + character + key.slice(index + 1);
      expect(isKeyWellFormed(typed)).toBe(false);
    }),
  );
});

test.each(["", "rk_", "x", "RK_", "rk_".padEnd(31, "0"), `${formatKey(new Uint8Array(17))} `])(
  "%j was never issued",
  (text) => expect(isKeyWellFormed(text)).toBe(false),
);

test("only a key's SHA-256 and its first eight characters are stored, five of them random", () => {
  const key = "rk_0000000000000000000000000000";
  expect(hashKey(key)).toBe(new Bun.CryptoHasher("sha256").update(key).digest("hex"));
  expect(startOfKey(key)).toBe("rk_00000");
});

describe("the permission table", () => {
  const TABLE = {
    order: ["order"],
    recharge: ["recharge", "user lookup"],
    full: ["order", "recharge", "user lookup"],
  };
  const permissions = ["order", "recharge", "user lookup"] as const;
  const rows = KEY_TYPES.flatMap((type) => permissions.map((what) => [type, what] as const));
  test.each(rows)("%s: %s", (type, permission) => {
    expect(keyTypeMay(type, permission)).toBe(TABLE[type].includes(permission));
  });
});

test("a test key reads rk_test_ and 28 letters and digits; a live key never does, whatever is random", () => {
  for (let value = 0; value < 256; value += 1) {
    const random = new Uint8Array(KEY_RANDOM_BYTES).fill(value);
    const [live, inTest] = [formatKey(random), formatKey(random, true)];
    expect(inTest).toMatch(/^rk_test_[0-9A-Za-z]{28}$/);
    expect([isKeyWellFormed(live), isKeyWellFormed(inTest)]).toEqual([true, true]);
    expect([looksLikeTestKey(live), looksLikeTestKey(inTest)]).toEqual([false, true]);
    expect(isKeyWellFormed(inTest.replace("test_", ""))).toBe(false);
    expect(inTest).toStartWith(shownStart({ start: startOfKey(inTest), testOf: 1 }));
    expect(startOfKey(inTest)).toHaveLength(5);
  }
});
