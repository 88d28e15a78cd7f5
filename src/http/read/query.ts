// Reads the filters of a list (docs/specification/http.md#lists). Its page is in paging.ts, its time window in
// time-windows.ts.
// A malformed filter is refused by its name, never ignored.

import { IDS_FORM, IDS_LIMIT } from "../../domain/values/limits.ts";
import { isReference, REFERENCE_FORM } from "../../domain/orders/orders.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { invalidField, lookedUp } from "./body.ts";

/** A positive whole number of at most 16 digits. */
export const WHOLE = /^[1-9]\d{0,15}$/;

export type Query = URLSearchParams;

export function queryOf({ url }: IncomingRequest): Query {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start));
}

export function statusFilter(query: Query) {
  return oneOf(query, "status", ORDER_STATUSES);
}

export function kindFilter(query: Query) {
  return oneOf(query, "kind", TRANSFER_KINDS);
}

/** The id of a service; an unknown one matches no order. */
export function serviceFilter(query: Query): string | null {
  const service = query.get("service");
  if (service === "") throw invalidField("service", "a non-empty string");
  return service && lookedUp(service);
}

/** `fields`: `all` to get members beyond those of the contract; null when absent. */
export function fieldsFilter(request: IncomingRequest): "all" | null {
  const fields = request.url.includes("?") ? queryOf(request).get("fields") : null;
  if (fields !== null && fields !== "all") throw invalidField("fields", "all");
  return fields;
}

export function referenceFilter(query: Query): string | null {
  const reference = query.get("reference");
  if (reference !== null && !isReference(reference))
    throw invalidField("reference", REFERENCE_FORM);
  return reference;
}

/** `order`: the number of an order. */
export function orderFilter(query: Query): number | null {
  const order = query.get("order");
  if (order === null) return null;
  if (!WHOLE.test(order)) throw invalidField("order", "an order number");
  return Number(order);
}

/** `ids`: up to 100 order ids, of either kind, separated by commas; null when absent. */
export function idsFilter(query: Query): string[] | null {
  const text = query.get("ids");
  if (text === null) return null;
  const ids = text.split(",").map((id) => id.trim());
  if (ids.length > IDS_LIMIT || ids.includes("")) {
    throw invalidField("ids", IDS_FORM);
  }
  const others = [...query.keys()].some((name) => name !== "ids" && FILTERS.includes(name));
  if (others) throw invalidField("ids", "given without other filters");
  return ids;
}

const FILTERS = ["status", "service", "reference", "from", "to", "limit", "cursor"];

function oneOf<Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | null {
  const text = query.get(name);
  if (text === null) return null;
  const word = words.find((each) => each === text);
  if (word === undefined) throw invalidField(name, `one of ${words.join(", ")}`);
  return word;
}
