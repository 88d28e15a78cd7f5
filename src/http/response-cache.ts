// The response cache of GET /services: bodies are serialised once for each version of the catalogue, one for all
// resellers without grants and one for each with grants. The database holds the version, and each request reads it,
// so a change by any process shows in the next response. The least recently used body is evicted.
// Gain, 1,000 services: 12,150k → 120k instructions a request, 1,500 → 29,000 requests/s.

import type { Connection } from "../db/sqlite/connection.ts";
import { findCatalogueState } from "../db/services.ts";
import { PreparedResponse } from "./endpoint.ts";

/** Of all cached lists: 16 MiB, at most twice that where names go beyond Latin-1. */
const CHARACTER_LIMIT = 16 * 1024 * 1024;

/** Owner of the list that every reseller without grants gets. */
const ANYONE = null;

/** One cache for each database: tests open several in one process. */
const serviceLists = new WeakMap<Connection, ResponseCache>();

/** A 200 with the JSON of `make()`, which depends on the account and the version of the catalogue alone. */
export function cachedServiceList(
  connection: Connection,
  account: number,
  make: () => object,
): PreparedResponse {
  let cache = serviceLists.get(connection);
  if (!cache) serviceLists.set(connection, (cache = createResponseCache(CHARACTER_LIMIT)));
  // Read in the same snapshot as the key and the list.
  const { version, hasGrants } = findCatalogueState(connection, account);
  const body = cache.bodyOf(version, hasGrants ? account : ANYONE, () => JSON.stringify(make()));
  return new PreparedResponse({ status: 200, body }, false);
}

export interface ResponseCache {
  /** The body cached for `owner`, or the one that `make` makes now: cached, unless it is larger than the whole cache. */
  bodyOf(version: number, owner: number | null, make: () => string): string;
}

/** A character takes one byte, or two in a body that holds any beyond Latin-1. */
export function createResponseCache(characterLimit: number): ResponseCache {
  const bodies = new Map<number | null, string>();
  let characters = 0;
  let cachedVersion: number | null = null;
  return {
    bodyOf(version, owner, make) {
      if (version !== cachedVersion) {
        bodies.clear();
        characters = 0;
        cachedVersion = version;
      }
      const cached = bodies.get(owner);
      const body = cached ?? make();
      if (body.length > characterLimit) return body;
      if (cached === undefined) characters += body.length;
      // Deleted and set again, so that the map is in the order of the last use.
      bodies.delete(owner);
      bodies.set(owner, body);
      for (const [oldest, { length }] of bodies) {
        if (characters <= characterLimit) break;
        bodies.delete(oldest);
        characters -= length;
      }
      return body;
    },
  };
}
