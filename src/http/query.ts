// Reading the filters of a list (docs/specification.md#lists). A malformed one is refused by its name, never ignored.

import {
  IDS_FORM,
  IDS_LIMIT,
  PAGE_DEFAULT,
  PAGE_LIMIT,
  PAGE_LIMIT_FORM,
} from "../domain/limits.ts";
import { ORDER_STATUSES, isReference, REFERENCE_FORM } from "../domain/orders.ts";
import { TRANSFER_KINDS } from "../domain/ledger.ts";
import type { TimeWindow } from "../db/port.ts";
import type { IncomingRequest } from "../http1/request.ts";
import { invalidField, lookedUp } from "./body.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A date, or a date and a time with its zone. An unescaped `+` of a zone is decoded as a space. */
const TIME =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+\- ](?:[01]\d|2[0-3]):[0-5]\d))?$/;
const WHOLE = /^[1-9]\d{0,15}$/;

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

/** `from` and `to`, both included. A date alone is that whole day in UTC. */
export function windowFilter(query: Query): TimeWindow {
  const from = timeFilter(query, "from", 0);
  const to = timeFilter(query, "to", DAY_MS - 1);
  if (from !== null && to !== null && from > to) throw invalidField("from", "at or before to");
  return { from, to };
}

/** `dateSpan` is added to a date without a time. */
function timeFilter(query: Query, name: "from" | "to", dateSpan: number): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const match = TIME.exec(text);
  const day = match?.[1] ?? "";
  // Date turns the 30th of February into a day of March.
  const exists = match && new Date(day).toJSON()?.startsWith(day);
  if (!exists) throw invalidField(name, "an ISO 8601 time such as 2026-01-31T09:30:00Z, or a date");
  return match[2] === undefined ? Date.parse(day) + dateSpan : Date.parse(text.replace(" ", "+"));
}

export function limitFilter(query: Query): number {
  const text = query.get("limit");
  if (text === null) return PAGE_DEFAULT;
  const limit = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (!(limit <= PAGE_LIMIT)) throw invalidField("limit", PAGE_LIMIT_FORM);
  return limit;
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

/** The list that a cursor belongs to: the cursor of another list is refused. */
export type CursorKind = "orders" | "transactions";

/** A cursor is opaque to callers: the number below which the list continues. */
export function formatCursor(kind: CursorKind, below: number): string {
  return Buffer.from(`${kind}:${below}`).toString("base64url");
}

/** The number below which to continue; the first page starts above all numbers. */
export function cursorFilter(query: Query, kind: CursorKind): number {
  const cursor = query.get("cursor");
  if (cursor === null) return Number.MAX_SAFE_INTEGER;
  const [of, below = ""] = Buffer.from(cursor, "base64url").toString().split(":");
  if (of !== kind || !WHOLE.test(below) || formatCursor(kind, Number(below)) !== cursor) {
    throw invalidField("cursor", "the nextCursor of an earlier answer");
  }
  return Number(below);
}

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
