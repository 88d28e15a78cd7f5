// The known name that a mistyped one stands for.

import { expect, test } from "bun:test";
import { nearestOf } from "../../../src/domain/values/nearest.ts";

const KNOWN = ["RESELLER_PORT", "RESELLER_HOST", "RESELLER_DATA", "RESELLER_RATE_LIMIT"];

test.each([
  ["RESELLER_PROT", "RESELLER_PORT"],
  ["RESELLER_POTR", "RESELLER_PORT"],
  ["RESELLER_RATELIMIT", "RESELLER_RATE_LIMIT"],
  ["RESELLER_DATE", "RESELLER_DATA"],
  ["RESELLER_SOMETHING", null],
  ["X", null],
  ["", null],
])("%p: %p", (name, nearest) => {
  expect(nearestOf(name, KNOWN)).toBe(nearest);
});

test("the first of two equally near names is suggested", () => {
  expect(nearestOf("aab", ["aaa", "aac"])).toBe("aaa");
});
