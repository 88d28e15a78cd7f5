// Growing pauses with jitter, by cockatiel. The waiting itself is done by the queue in the database, so that a
// restart forgets nothing; only the length of a pause comes from here.

import { ExponentialBackoff, noJitterGenerator } from "cockatiel";

/** The first pause of an order that was not sent is at most this, and none is longer than the limit. */
const SUBMIT_BACKOFF_FIRST_MS = 1000;
export const SUBMIT_BACKOFF_LIMIT_MS = 60_000;
/** A provider that does not answer questions is left alone for a while. */
const POLL_BACKOFF_FIRST_MS = 1000;
const POLL_BACKOFF_LIMIT_MS = 60_000;
/** A result that could not be written down, the disk being full or the queue, is written again. */
const WRITE_BACKOFF_FIRST_MS = 100;
const WRITE_BACKOFF_LIMIT_MS = 5000;

/** A number from 0 to 1, as Math.random gives. */
export type Random = () => number;

/** The pause after that many tries that were not sent, from 0. */
export function submitBackoffMs(tries: number, random: Random): number {
  return backoff(SUBMIT_BACKOFF_FIRST_MS, SUBMIT_BACKOFF_LIMIT_MS, tries, random);
}

export function pollBackoffMs(failures: number, random: Random): number {
  return backoff(POLL_BACKOFF_FIRST_MS, POLL_BACKOFF_LIMIT_MS, failures, random);
}

export function writeBackoffMs(tries: number, random: Random): number {
  return backoff(WRITE_BACKOFF_FIRST_MS, WRITE_BACKOFF_LIMIT_MS, tries, random);
}

/** Between half of it and the whole: cockatiel's own jitter takes no random number from outside. */
function backoff(initialDelay: number, maxDelay: number, tries: number, random: Random): number {
  let backoff = new ExponentialBackoff({
    initialDelay,
    maxDelay,
    generator: noJitterGenerator,
  }).next();
  for (let step = 0; step < tries && backoff.duration < maxDelay; step += 1) {
    backoff = backoff.next(undefined);
  }
  return Math.ceil(backoff.duration * (0.5 + random() / 2));
}
