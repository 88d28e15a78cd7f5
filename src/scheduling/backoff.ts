// Exponential backoff with jitter. Computes only the delays: the time of the next try is stored in the database, so
// that it survives a restart.

import { MINUTE_MS } from "../domain/values/spans.ts";

/** Delays between attempts to submit an order that was not sent: limits for the first delay and for every delay. */
const SUBMIT_BACKOFF_FIRST_MS = 1000;
export const SUBMIT_BACKOFF_LIMIT_MS = MINUTE_MS;
/** Delays between polls of a provider that does not respond. */
const POLL_BACKOFF_FIRST_MS = 1000;
const POLL_BACKOFF_LIMIT_MS = MINUTE_MS;
/** Delays between tries to store an outcome while the disk or the writer's queue is full. */
const WRITE_BACKOFF_FIRST_MS = 100;
const WRITE_BACKOFF_LIMIT_MS = 5000;

/** Returns a number from 0 to 1, like Math.random. */
export type Random = () => number;

/** Returns the delay in milliseconds after `tries` failed tries, from 0. */
export function submitBackoffMs(tries: number, random: Random): number {
  return backoff(SUBMIT_BACKOFF_FIRST_MS, SUBMIT_BACKOFF_LIMIT_MS, tries, random);
}

export function pollBackoffMs(failures: number, random: Random): number {
  return backoff(POLL_BACKOFF_FIRST_MS, POLL_BACKOFF_LIMIT_MS, failures, random);
}

export function writeBackoffMs(tries: number, random: Random): number {
  return backoff(WRITE_BACKOFF_FIRST_MS, WRITE_BACKOFF_LIMIT_MS, tries, random);
}

/** Doubles `first` with each try, up to `limit`. Applies jitter: between half the delay and all of it. */
function backoff(first: number, limit: number, tries: number, random: Random): number {
  return Math.ceil(Math.min(first * 2 ** tries, limit) * (0.5 + random() / 2));
}
