// Response caches for the lists of services of GET /services and /api/v2. Each version of the catalogue is serialised
// once for all resellers without prices of their own, and once for each other reseller. The database holds the version,
// and each request reads it, so a change by any process shows in the next response.
// Gain, 1,000 services: 12,150k → 120k instructions a request, 1,500 → 29,000 requests/s.

import { after, type Awaitable, type Reader, type ReadStore } from "../../db/port/port.ts";
import { type CatalogueState, findCatalogueState } from "../../db/catalogue/services.ts";
import { PreparedResponse } from "../server/endpoint.ts";
import { createResponseCache, type ResponseCache } from "../server/response-cache.ts";

/** Limit for all cached lists of one kind: 16 MiB, at most twice that if names go beyond Latin-1. */
const CHARACTER_LIMIT = 16 * 1024 * 1024;

/** Owner of the list that every reseller without grants and without a discount gets. */
const ANYONE = null;

type List = (reader: Reader, account: number) => object;

/**
 * Returns a function that makes the 200 with the JSON of `list`, which depends only on the account and the version of
 * the catalogue. Each database has its own cache: tests open several in one process.
 */
export function createServiceListCache(list: List) {
  const byStore = new WeakMap<ReadStore, ResponseCache>();
  return (store: ReadStore, account: number): Awaitable<PreparedResponse> => {
    let cache = byStore.get(store);
    if (!cache) byStore.set(store, (cache = createResponseCache(CHARACTER_LIMIT)));
    return cachedServiceList(cache, store, account, list);
  };
}

function cachedServiceList(
  lists: ResponseCache,
  store: ReadStore,
  account: number,
  list: List,
): Awaitable<PreparedResponse> {
  const stateNow = () => store.read((reader) => findCatalogueState(reader, account));
  return after(stateNow(), (state) => {
    const cached = lists.get(state.version, ownerOf(state, account));
    if (cached !== undefined) return respond(cached);
    const made = store.read((reader) => JSON.stringify(list(reader, account)));
    return after(made, (body) =>
      // The list is known to be of this version only if the version is the same before and after reading it.
      after(stateNow(), ({ version }) => {
        if (version === state.version) lists.set(version, ownerOf(state, account), body);
        return respond(body);
      }),
    );
  });
}

const ownerOf = ({ hasOwnPrices }: CatalogueState, account: number) =>
  hasOwnPrices ? account : ANYONE;

const respond = (body: string) => new PreparedResponse({ status: 200, body }, false);
