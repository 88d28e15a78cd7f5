// Rate limits where several servers share the load: together they let through what one would.

import { describe, expect, test } from "bun:test";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { createRateLimits } from "../../../src/http/server/rate-limits.ts";

/** An hour: nothing is refilled while the test runs. */
const HOUR = 3_600_000;

const KEY = { id: "a", resellerAccount: 3, testOf: null, limits: null };

/** How many calls are let through before the first that is refused. */
function countAllowed(call: () => void): number {
  for (let count = 0; ; count += 1) {
    try {
      call();
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
      return count;
    }
  }
}

describe.each([
  [1, 120, 20],
  [3, 40, 6],
  [1000, 1, 1],
])("with %i servers", (servers, ofKey, ofAddress) => {
  const limits = () => createRateLimits({ requests: 60, milliseconds: HOUR }, () => servers);

  test("each lets its share of a key's burst through, and one request at least", () => {
    const shared = limits();
    expect(countAllowed(() => shared.allowanceOf(KEY).take())).toBe(ofKey);
  });

  test("each lets its share of an address's guesses through, and one at least", () => {
    const shared = limits();
    const guess = () => {
      shared.refuseGuessing("192.0.2.1");
      shared.noteFailure("192.0.2.1");
    };
    expect(countAllowed(guess)).toBe(ofAddress);
  });
});

test("a refusal names the limit of all servers together", () => {
  const limits = createRateLimits({ requests: 60, milliseconds: HOUR }, () => 120);
  limits.allowanceOf(KEY).take();
  const refused = () => limits.allowanceOf(KEY).take();
  expect(refused).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ requests: 60, burst: 120 }) }),
  );
});

test("a server that joins leaves less for the others at once", () => {
  let servers = 1;
  const limits = createRateLimits({ requests: 60, milliseconds: HOUR }, () => servers);
  for (let count = 0; count < 60; count += 1) limits.allowanceOf(KEY).take();
  servers = 2;
  expect(countAllowed(() => limits.allowanceOf(KEY).take())).toBe(30);
});
