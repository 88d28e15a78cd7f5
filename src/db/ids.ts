// Ids of orders, users, keys and services: cuid2, by its library. The one place that makes them.

import { init } from "@paralleldrive/cuid2";

/** Random numbers fetched at a time: a call of the system's generator costs more than a whole id needs. */
const POOL_SIZE = 1024;

const pool = new Uint32Array(POOL_SIZE);
let used = POOL_SIZE;
let create: (() => string) | undefined;

/** Ids that are made ahead at most. */
const STOCK_LIMIT = 256;
/** Ids made in one turn of the event loop: for 0.1 ms what has arrived meanwhile waits. */
const PORTION = 8;

const stock: string[] = [];
/** How many to make ahead: as many as were missing so far. */
let wanted = 0;
let isFilling = false;

/**
 * One that was made ahead, while the process waited for the database. Without one it costs 10 µs or more: never inside a
 * transaction.
 */
export function createId(): string {
  const ready = stock.pop();
  if (ready === undefined) wanted = Math.min(wanted + 1, STOCK_LIMIT);
  if (!isFilling) setImmediate(fill);
  isFilling = true;
  return ready ?? make();
}

function fill(): void {
  for (let made = 0; made < PORTION && stock.length < wanted; made += 1) stock.push(make());
  isFilling = stock.length < wanted;
  if (isFilling) setImmediate(fill);
}

function make(): string {
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
