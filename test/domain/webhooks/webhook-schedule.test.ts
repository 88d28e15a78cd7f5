// When a delivery is attempted again.

import { describe, expect, test } from "bun:test";
import {
  parseRetryAfter,
  WEBHOOK_ATTEMPTS,
  webhookPauseMs,
} from "../../../src/domain/webhooks/webhook-schedule.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The specification's, written out once more. */
const STEPS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((h) => h * HOUR)];

describe("the pause after a failed attempt", () => {
  test("is the step of that attempt; the tenth attempt is the last", () => {
    const pauses = Array.from({ length: 10 }, (_, index) => webhookPauseMs(index + 1, 0.5));
    expect(pauses).toEqual([...STEPS, null]);
    expect(WEBHOOK_ATTEMPTS).toBe(10);
  });

  test("is up to a fifth shorter or longer, never more", () => {
    for (const [index, step] of STEPS.entries()) {
      expect(webhookPauseMs(index + 1, 0)).toBe(step * 0.8);
      expect(webhookPauseMs(index + 1, 1)).toBe(step * 1.2);
    }
  });

  test("is as long as Retry-After asks, up to twice the step, and never shorter for it", () => {
    expect(webhookPauseMs(2, 0.5, 400)).toBe(400 * SECOND);
    expect(webhookPauseMs(2, 0.5, 601)).toBe(10 * MINUTE);
    expect(webhookPauseMs(2, 0.5, 9_999_999_999)).toBe(10 * MINUTE);
    expect(webhookPauseMs(2, 0.5, 1)).toBe(5 * MINUTE);
    expect(webhookPauseMs(2, 0, 0)).toBe(4 * MINUTE);
    expect(webhookPauseMs(10, 0.5, 10)).toBeNull();
  });
});

describe("Retry-After", () => {
  const NOW = Date.UTC(2026, 10, 21, 12);
  test("is whole seconds or an HTTP date; anything else counts as absent", () => {
    expect(parseRetryAfter("120", NOW)).toBe(120);
    expect(parseRetryAfter(" 0 ", NOW)).toBe(0);
    expect(parseRetryAfter("Sat, 21 Nov 2026 12:01:30 GMT", NOW)).toBe(90);
    expect(parseRetryAfter("Saturday, 21-Nov-26 12:01:30 GMT", NOW)).toBe(90);
    expect(parseRetryAfter("Sat, 21 Nov 2026 11:00:00 GMT", NOW)).toBe(0);
    for (const nonsense of [
      null,
      "",
      "-5",
      "1.5",
      "1e3",
      "soon",
      "2026-11-21",
      "99999999999",
      "Sat Nov 21 12:01:30 2026",
      "Sat GMT",
    ]) {
      expect([nonsense, parseRetryAfter(nonsense, NOW)]).toEqual([nonsense, null]);
    }
  });
});
