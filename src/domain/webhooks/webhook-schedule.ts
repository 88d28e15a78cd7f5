// The schedule of the attempts to deliver a webhook. docs/specification/webhooks.md#webhook-schedule.

import { SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS } from "../values/spans.ts";

/** Pauses after the first failed attempt, the second, and so on. */
export const WEBHOOK_STEPS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  DAY_MS,
];
/** Number of attempts: the first, and one after each step. */
export const WEBHOOK_ATTEMPTS = WEBHOOK_STEPS_MS.length + 1;
/** Number of attempts for an event of the test side. */
export const TEST_WEBHOOK_ATTEMPTS = 3;
/**
 * Limit for the random fraction by which a pause varies, so that deliveries failing together are not retried together.
 */
const JITTER = 0.2;
/** Limit for `Retry-After`, as a multiple of the step. */
const RETRY_AFTER_STEPS = 2;
/** Limit for `Retry-After` of receivers that need the exact pause (Telegram). */
const RETRY_AFTER_LIMIT_MS = HOUR_MS;

/** Matches HTTP dates, except the form of asctime, which has no zone and is no longer sent. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .* GMT$/;

/**
 * Returns the pause after this many failed attempts, from 1; null when there is no further attempt. `random`: 0 to 1.
 * `retryAfterSeconds`: the pause that the receiver asked for, which never shortens the pause.
 */
export function webhookPauseMs(
  attempts: number,
  random: number,
  retryAfterSeconds: number | null = null,
  mayExceedSchedule = false,
): number | null {
  const step = WEBHOOK_STEPS_MS[attempts - 1];
  if (step === undefined) return null;
  const pause = Math.round(step * (1 - JITTER + 2 * JITTER * random));
  if (retryAfterSeconds === null) return pause;
  const limit = Math.max(step * RETRY_AFTER_STEPS, mayExceedSchedule ? RETRY_AFTER_LIMIT_MS : 0);
  return Math.max(pause, Math.min(retryAfterSeconds * SECOND_MS, limit));
}

/** Parses a `Retry-After` header (RFC 9110, 10.2.3), whole seconds or a date, to seconds; null when it is neither. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text);
  // Date.parse accepts far more than HTTP dates, and reads a date without a zone as local time.
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / SECOND_MS));
}
