// Keeps callers' keys in memory. Any write to the database clears the cache, because the version of the snapshot
// changes.
// Gain: with 16 requests per snapshot, reading the key and a balance takes 1.0 µs of CPU time instead of 3.1, with one
// request 3.7 instead of 5.5. A whole GET /balance takes 29 µs on the same machine.

import { type Caller, findCallerKeyByHash } from "../users/keys.ts";
import type { Reader } from "../port/port.ts";

/** Limit for the keys in memory, about 4 MB. */
const CACHED_KEYS_LIMIT = 10_000;

/**
 * Creates a function that finds a caller's key by its hash. `snapshot.version()` differs from an earlier one if
 * anything was written since.
 */
export function createKeyFinder(
  reader: Reader,
  snapshot: { version(): number },
): (hash: string) => Readonly<Caller> | undefined {
  const cached = new Map<string, Readonly<Caller>>();
  let version = 0;
  return (hash) => {
    if (version !== snapshot.version() || cached.size >= CACHED_KEYS_LIMIT) cached.clear();
    version = snapshot.version();
    const known = cached.get(hash);
    if (known) return known;
    const key = findCallerKeyByHash(reader, hash);
    if (key) cached.set(hash, key);
    return key;
  };
}
