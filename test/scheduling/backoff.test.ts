// Delays before another try: they double up to a limit, with jitter.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { pollBackoffMs, submitBackoffMs, writeBackoffMs } from "../../src/scheduling/backoff.ts";

test.each([
  ["submissions", submitBackoffMs, 1000, 60_000],
  ["polls", pollBackoffMs, 1000, 60_000],
  ["writes", writeBackoffMs, 100, 5000],
])(
  "%s wait twice as long each time, up to a limit, and at least half of that",
  (_, delay, first, limit) => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.nat({ max: 5000 }), random, (tries, jitter) => {
        const most = delay(tries, () => 1);
        expect(most).toBe(Math.min(first * 2 ** tries, limit));
        const waited = delay(tries, () => jitter);
        expect(Number.isInteger(waited)).toBe(true);
        expect(waited).toBeGreaterThanOrEqual(most / 2);
        expect(waited).toBeLessThanOrEqual(most);
      }),
    );
  },
);
