// GET /services/changes: what changed in the caller's list of services.
// docs/specification/endpoints.md#get-services-changes.

import { after, type Awaitable, type ReadStore } from "../../db/port/port.ts";
import { findLastChange, listServiceChanges } from "../../db/catalogue/service-changes.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { publicChange, SINCE_FORM, SINCE_NOW } from "../../domain/catalogue/service-changes.ts";
import { invalidField } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";
import { limitFilter } from "../read/paging.ts";
import { type Query, queryOf, WHOLE } from "../read/query.ts";
import { listServiceChanges as describeChanges } from "../../api-docs/endpoints/service-changes.ts";
import { ORDER, type Route } from "../server/api-route.ts";

/** Maximum number of reads for one page while none finds a change for the caller. */
const STEPS_A_PAGE = 5;

function getServiceChanges(
  { store }: { store: ReadStore },
  { request, key: { testOf, resellerAccount } }: Call,
): Awaitable<object> {
  const query = queryOf(request);
  const since = sinceFilter(query);
  const limit = limitFilter(query);
  if (since === SINCE_NOW) {
    return after(store.read(findLastChange), (cursor) => response([], cursor));
  }
  return listPage(store, testOf ?? resellerAccount, since, limit, STEPS_A_PAGE);
}

function sinceFilter(query: Query): number | typeof SINCE_NOW {
  const since = query.get("since");
  if (since === null) throw new Refusal("field_missing", { field: "since" });
  if (since === SINCE_NOW) return SINCE_NOW;
  if (since !== "0" && !WHOLE.test(since)) throw invalidField("since", SINCE_FORM);
  return Number(since);
}

/** Reads a page in steps, so that other requests are handled in between. */
function listPage(
  store: ReadStore,
  account: number,
  since: number,
  limit: number,
  steps: number,
): Awaitable<object> {
  const found = store.read((reader) => ({
    page: listServiceChanges(reader, account, since, limit),
  }));
  return after(found, ({ page }) => {
    if (!page) throw invalidField("since", SINCE_FORM);
    const { changes, cursor, isEnd } = page;
    if (changes.length > 0 || isEnd || steps === 1)
      return response(changes.map(publicChange), cursor);
    return followingPage(store, account, cursor, limit, steps - 1);
  });
}

async function followingPage(...page: Parameters<typeof listPage>): Promise<object> {
  await new Promise(setImmediate);
  return listPage(...page);
}

function response(changes: object[], cursor: number): object {
  return { status: "success", changes, nextCursor: String(cursor) };
}

export const routes: readonly Route<{ store: ReadStore }>[] = [
  ["GET", "/api/v1/services/changes", ORDER, getServiceChanges, describeChanges],
];
