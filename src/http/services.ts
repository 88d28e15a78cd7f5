// GET /services. docs/specification.md#get-services.
// The list is written once and given again: one for all resellers without grants, one for each with grants. The
// database says with each request whether it still holds, so that a change by any process shows in the next answer.

import type { Connection } from "../db/connection.ts";
import { findCatalogueState, listOpenServices } from "../db/services.ts";
import { jsonAmount } from "../domain/money.ts";
import { type Api, type Call, PreparedResponse } from "./endpoint.ts";
import { createResponseCache, type ResponseCache } from "./response-cache.ts";

/** Of all lists that are kept: 16 MiB, at most twice that where names go beyond Latin-1. */
const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** Whose list everyone without grants gets. */
const ANYONE = null;

/** What was read from one database says nothing of another. */
const keptLists = new WeakMap<Connection, ResponseCache>();

export function getServices({ connection }: Api, { key }: Call): PreparedResponse {
  const account = key.resellerAccount;
  // Of the same moment as the key and the list: a request reads in one transaction.
  const { version, hasGrants } = findCatalogueState(connection, account);
  const body = keptListsOf(connection).bodyOf(version, hasGrants ? account : ANYONE, () =>
    writeList(connection, account),
  );
  return new PreparedResponse({ status: 200, body }, false);
}

function keptListsOf(connection: Connection): ResponseCache {
  let kept = keptLists.get(connection);
  if (!kept) keptLists.set(connection, (kept = createResponseCache(KEPT_CHARACTERS)));
  return kept;
}

/** What it shows and hangs on is what the triggers of catalogue_version watch: add a column to both. */
function writeList(connection: Connection, account: number): string {
  const services = listOpenServices(connection, account).map((service) => ({
    id: service.id,
    name: service.name,
    price: jsonAmount(service.priceMicros),
    min: service.min,
    max: service.max,
  }));
  return JSON.stringify({ status: "success", services });
}
