// Makes the ids of orders, users, keys and services (cuid2). No other file makes them.

import { init } from "@paralleldrive/cuid2";

/** Random numbers fetched at a time: one call of the system's generator costs more than making a whole id. */
const POOL_SIZE = 1024;

const pool = new Uint32Array(POOL_SIZE);
let usedNumbers = POOL_SIZE;
let create: (() => string) | undefined;

/** Limit for ids made in advance. */
const STOCK_LIMIT = 256;
/** Ids made in one turn of the event loop. They delay new requests by 0.1 ms. */
const IDS_PER_TURN = 8;

const stock: string[] = [];
/** Number of ids to make in advance. Grows by one whenever none was ready. */
let stockTarget = 0;
let isFilling = false;

/**
 * Returns an id that was made in advance, while the process waited for the database. If none is ready, makes one, which
 * takes 10 µs or more. Never call it inside a transaction.
 */
export function createId(): string {
  const ready = stock.pop();
  if (ready === undefined) stockTarget = Math.min(stockTarget + 1, STOCK_LIMIT);
  if (!isFilling) setImmediate(fill);
  isFilling = true;
  return ready ?? make();
}

function fill(): void {
  for (let made = 0; made < IDS_PER_TURN && stock.length < stockTarget; made += 1)
    stock.push(make());
  isFilling = stock.length < stockTarget;
  if (isFilling) setImmediate(fill);
}

function make(): string {
  // Created at first use: cuid2 first hashes a fingerprint of the process, which would delay the start.
  create ??= init({ random });
  return create();
}

/** Makes the seed for the ids of a command's events. */
export function createSeed(): string {
  return crypto.randomUUID();
}

/** Replaces Math.random, whose next values can be computed from earlier ones. */
function random(): number {
  if (usedNumbers === POOL_SIZE) {
    crypto.getRandomValues(pool);
    usedNumbers = 0;
  }
  return pool[usedNumbers++]! / 2 ** 32;
}
