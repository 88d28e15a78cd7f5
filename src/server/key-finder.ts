// Keeps callers' keys in memory for at most a second, on a server of PostgreSQL. Every server refuses a deactivated key
// within a second, and the one that deactivated it on the next request. Orders and recharges check their key again in
// their own transaction.

import type { Awaitable } from "../db/port/port.ts";
import type { Caller } from "../db/users/keys.ts";

const KEPT_MS = 1000;
/** Limit for keys in memory, about 4 MB. */
const KEYS_LIMIT = 10_000;

export interface KeyFinder {
  find(hash: string): Awaitable<Readonly<Caller> | undefined>;
  /** Forgets all keys, after a key was changed here. */
  clear(): void;
}

interface Cached {
  /** When the key was requested; the database's answer is no older. */
  askedAt: number;
  /** A promise until the key was read. */
  key: Awaitable<Readonly<Caller> | undefined>;
}

/** `read` reads a key from the database; `clock` is monotonic, in milliseconds. */
export function createKeyFinder(
  read: (hash: string) => Promise<Caller | undefined>,
  clock: () => number,
): KeyFinder {
  const cached = new Map<string, Cached>();

  const ask = (hash: string, askedAt: number): Promise<Caller | undefined> => {
    if (cached.size >= KEYS_LIMIT) cached.clear();
    const entry: Cached = { askedAt, key: undefined };
    const forget = () => {
      if (cached.get(hash) === entry) cached.delete(hash);
    };
    cached.set(hash, entry);
    const asked = read(hash).then(
      (key) => {
        entry.key = key;
        // Another server may create a missing key at any moment.
        if (key === undefined) forget();
        return key;
      },
      (error: unknown) => {
        forget();
        throw error;
      },
    );
    entry.key = asked;
    return asked;
  };
  return {
    find(hash) {
      const now = clock();
      const known = cached.get(hash);
      return known && now - known.askedAt < KEPT_MS ? known.key : ask(hash, now);
    },
    clear: () => cached.clear(),
  };
}
