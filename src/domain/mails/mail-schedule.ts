// The schedule of the attempts to send a mail. docs/specification/email.md#mail-schedule.

import { HOUR_MS, MINUTE_MS } from "../values/spans.ts";
import { isServerFailure, type MailFailure } from "./mails.ts";

/** How often the longest pause is repeated. */
const LONGEST_REPEATED = 14;
/**
 * Pauses after the first failed attempt, the second, and so on. Five days in all, as mail servers wait (RFC 5321), after
 * which a mail is given up.
 */
export const MAIL_STEPS_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  ...Array.from({ length: LONGEST_REPEATED }, () => 8 * HOUR_MS),
];
/** Limit for the random fraction by which a pause varies, so that mails failing together are not tried together. */
const JITTER = 0.2;

/** Returns the pause after this many failed attempts, from 1; null: the mail is given up. `random`: 0 to 1. */
export function mailPauseMs(attempts: number, failure: MailFailure, random: number): number | null {
  const step = failure === "refused" ? undefined : MAIL_STEPS_MS[attempts - 1];
  return step === undefined ? null : Math.round(step * (1 - JITTER + 2 * JITTER * random));
}

/** The first and the longest pause in which a server tries no mail, after its mail server failed several times in a row. */
const OUTAGE_FIRST_MS = 5000;
const OUTAGE_LIMIT_MS = 5 * MINUTE_MS;

/** Returns how long a server tries no mail after this many failures of its mail server in a row. */
export function outagePauseMs(failures: number): number {
  if (failures === 0) return 0;
  return Math.min(OUTAGE_FIRST_MS * 2 ** Math.min(failures - 1, 16), OUTAGE_LIMIT_MS);
}

/** Returns the number of failures of the mail server in a row after one more attempt. */
export function outageAfter(failures: number, failure: MailFailure | null): number {
  return failure !== null && isServerFailure(failure) ? failures + 1 : 0;
}
