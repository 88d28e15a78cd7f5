// Our balance at a provider as evidence about its unknown orders.

import { expect, test } from "bun:test";
import { balanceEvidence } from "../../../src/domain/delivery/balance-evidence.ts";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";

const order = (orderId: number, expected: string | null) => ({
  orderId,
  attemptId: orderId,
  providerService: "7",
  quantity: 100,
  sentFrom: 10_000,
  sentUntil: 11_000,
  expected: expected === null ? null : parseDecimal(expected),
  hasPlainCount: true,
  isRestored: false,
});
const at = (second: number, balanceMicros: number, currency: string | null = "USD") => ({
  at: second * 1000,
  balanceMicros,
  currency,
});
const numbered = [5, 20].map((second) => ({
  orderId: second,
  attemptId: second,
  number: BigInt(second),
  providerService: "7",
  quantity: 1,
  startedAt: second * 1000,
  finishedAt: second * 1000,
}));

test("says how far the balance fell, exactly, and what the orders would cost", () => {
  const unknown = [order(1, "0.1"), order(2, "0.00000000000000000002"), order(3, null)];
  const around = { before: at(1, 9_000_000_000_000_000), after: at(30, 8_999_999_999_999_999) };
  expect(balanceEvidence(around, unknown, numbered, new Set([1]))).toEqual([
    "our balance there before them was 9000000000 USD (1970-01-01 00:00:01 UTC)",
    "our balance there after them was 8999999999.999999 USD (1970-01-01 00:00:30 UTC)",
    "it fell by 0.000001, with at least 2 other orders of ours in between",
    "by the provider's rates all of them cost 0.10000000000000000002 and 1 order without a known rate, and those likely sent 0.1",
  ]);
});

test.each([
  [
    "a balance that is not known",
    null,
    at(30, 5),
    "our balance there before them is not known, so it cannot be compared; by",
  ],
  [
    "a balance after them that is not known",
    at(1, 5),
    null,
    "our balance there after them is not known, so it cannot be compared; by",
  ],
  ["another currency", at(1, 5), at(30, 4, "EUR"), "was 0.000004 EUR"],
])("compares nothing with %s", (_title, before, after, says) => {
  const texts = balanceEvidence({ before, after }, [order(1, "1")], [], new Set());
  expect(texts.join("; ")).toContain(says);
  expect(texts.some((text) => /^it (fell|rose)/.test(text))).toBeFalse();
});

test("says nothing without unknown orders", () => {
  expect(balanceEvidence({ before: at(1, 5), after: null }, [], numbered, new Set())).toEqual([]);
});
