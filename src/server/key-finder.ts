// Callers' keys of a server on PostgreSQL, in memory for a second at most: a key that is deactivated is refused within a
// second by every server, and on the very next request by the one that deactivated it. Orders and recharges look at
// their key again in their own transaction.

import type { Awaitable } from "../db/port.ts";
import type { Caller } from "../db/keys.ts";

const KEPT_MS = 1000;
/** Some 4 MB. */
const KEYS_LIMIT = 10_000;

export interface KeyFinder {
  /** By its hash. */
  find(hash: string): Awaitable<Readonly<Caller> | undefined>;
  /** Forgets all: a key was changed here. */
  clear(): void;
}

interface Cached {
  /** When it was asked for: the database's answer is no older. */
  askedAt: number;
  /** A promise until it is there. */
  key: Awaitable<Readonly<Caller> | undefined>;
}

/** `read` asks the database; `clock` is monotonic, in milliseconds. */
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
        // One that does not exist may be made at any moment, by another server.
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
