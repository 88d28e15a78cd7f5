// The time window of a list, from its parameters `from` and `to`. docs/specification/http.md#lists.

import type { TimeWindow } from "../../db/port/port.ts";
import { invalidField } from "./body.ts";
import type { Query } from "./query.ts";
import { DAY_MS } from "../../domain/values/spans.ts";

/** A date, or a date and a time with its zone. An unescaped `+` of a zone is decoded as a space. */
const TIME =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+\- ](?:[01]\d|2[0-3]):[0-5]\d))?$/;
/** `from` and `to`, both included. A date without a time means that whole day in UTC. */
export function windowFilter(query: Query): TimeWindow {
  const from = timeFilter(query, "from", 0);
  const to = timeFilter(query, "to", DAY_MS - 1);
  if (from !== null && to !== null && from > to) throw invalidField("from", "at or before to");
  return { from, to };
}

function timeFilter(query: Query, name: "from" | "to", dateSpan: number): number | null {
  const text = query.get(name);
  return text === null ? null : timeOf(name, text, dateSpan);
}

/** Parses a date or a time to milliseconds since 1970. `dateSpan` is added to a date without a time. */
export function timeOf(name: string, text: string, dateSpan = 0): number {
  const match = TIME.exec(text);
  const day = match?.[1] ?? "";
  // Date turns the 30th of February into a day of March.
  const exists = match && new Date(day).toJSON()?.startsWith(day);
  if (!exists) throw invalidField(name, "an ISO 8601 time such as 2026-01-31T09:30:00Z, or a date");
  return match[2] === undefined ? Date.parse(day) + dateSpan : Date.parse(text.replace(" ", "+"));
}
