// Reads which page of a list a request asks for: its size, and the cursor where it begins.
// docs/specification/http.md#lists.

import { PAGE_SIZE } from "../../domain/values/kinds.ts";
import { PAGE_DEFAULT } from "../../domain/values/limits.ts";
import { invalidField } from "./body.ts";
import { type Query, readParameter, WHOLE } from "./query.ts";

export function limitFilter(query: Query): number {
  return readParameter(query, "limit", PAGE_SIZE) ?? PAGE_DEFAULT;
}

/** The list that a cursor belongs to: the cursor of another list is refused. */
export type CursorKind = "orders" | "transactions" | "deliveries";

/** Returns a cursor, which is opaque to callers. `below` is the number below which the list continues. */
export function formatCursor(kind: CursorKind, below: number): string {
  return Buffer.from(`${kind}:${below}`).toString("base64url");
}

/** Returns the number below which to continue; the first page starts above all numbers. */
export function cursorFilter(query: Query, kind: CursorKind): number {
  const cursor = query.get("cursor");
  if (cursor === null) return Number.MAX_SAFE_INTEGER;
  const [of, below = ""] = Buffer.from(cursor, "base64url").toString().split(":");
  if (of !== kind || !WHOLE.test(below) || formatCursor(kind, Number(below)) !== cursor) {
    throw invalidField("cursor", "the nextCursor of an earlier answer");
  }
  return Number(below);
}
