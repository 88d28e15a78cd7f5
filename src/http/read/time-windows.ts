// The time window of a list, from its parameters `from` and `to`. docs/specification/http.md#lists.

import type { TimeWindow } from "../../db/port/port.ts";
import { type Kind, TIME, TIME_TO_END } from "../../domain/values/kinds.ts";
import { invalidField, valueOf } from "./body.ts";
import type { Query } from "./query.ts";

/** `from` and `to`, both included. A date without a time means that whole day in UTC. */
export function windowFilter(query: Query): TimeWindow {
  const from = timeFilter(query, "from", TIME);
  const to = timeFilter(query, "to", TIME_TO_END);
  if (from !== null && to !== null && from > to) throw invalidField("from", "at or before to");
  return { from, to };
}

function timeFilter(query: Query, name: "from" | "to", kind: Kind<number>): number | null {
  // An unescaped `+` of a zone is decoded as a space.
  const text = query.get(name)?.replace(/ (?=\d\d:\d\d$)/, "+");
  return text === undefined ? null : valueOf(name, kind.read(text));
}
