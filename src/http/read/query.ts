// Reads the filters of a list (docs/specification/http.md#lists). Page: paging.ts. Time window: time-windows.ts.
// A malformed filter is refused by its name, never ignored.

import { type Kind, oneOf, ORDER_NUMBER, REFERENCE } from "../../domain/values/kinds.ts";
import { IDS_FORM, IDS_LIMIT } from "../../domain/values/limits.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { invalidField, lookedUp, valueOf } from "./body.ts";

/** A positive whole number of at most 16 digits. */
export const WHOLE = /^[1-9]\d{0,15}$/;

export type Query = URLSearchParams;

export function queryOf({ url }: IncomingRequest): Query {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start));
}

export function statusFilter(query: Query) {
  return readParameter(query, "status", oneOf(ORDER_STATUSES));
}

export function kindFilter(query: Query) {
  return readParameter(query, "kind", oneOf(TRANSFER_KINDS));
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
  return readParameter(query, "reference", REFERENCE);
}

/** `order`: the number of an order. */
export function orderFilter(query: Query): number | null {
  return readParameter(query, "order", ORDER_NUMBER);
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

/** Reads a parameter of a kind; null when it is absent. Refuses: field_invalid. */
export function readParameter<Value>(query: Query, name: string, kind: Kind<Value>): Value | null {
  const text = query.get(name);
  return text === null ? null : valueOf(name, kind.read(text));
}
