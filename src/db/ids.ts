// Ids of orders, users, keys and services: cuid2, by its library. The one place that makes them.

import { init } from "@paralleldrive/cuid2";

/** Random numbers fetched at a time: a call of the system's generator costs more than a whole id needs. */
const POOL_SIZE = 1024;

const pool = new Uint32Array(POOL_SIZE);
let used = POOL_SIZE;
let create: (() => string) | undefined;

/** Costs 15 µs or more, most of it SHA-3 in JavaScript: never inside a transaction. */
export function createId(): string {
  // Not when the module is loaded: cuid2 hashes a fingerprint of the process first, which a start need not wait for.
  create ??= init({ random });
  return create();
}

/** What the ids of a command's events are made from. */
export function createSeed(): string {
  return crypto.randomUUID();
}

/** In place of Math.random, whose next values can be computed from earlier ones. */
function random(): number {
  if (used === POOL_SIZE) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  return pool[used++]! / 2 ** 32;
}
