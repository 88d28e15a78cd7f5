// The fields `from` and `to` of a list: UTC days, both included.

import type { TimeWindow } from "../../db/port/port.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { parseTime } from "../../domain/values/times.ts";
import type { Call } from "../server/call.ts";

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the days from the query string. Wrong ones are noted in the form, and left out. */
export function dayWindow({ filters, visitor: { t } }: Call): TimeWindow {
  const day = (name: string, restMs: number) => {
    const text = filters.raw(name);
    if (text === "") return null;
    const at = DAY.test(text) ? parseTime(text, restMs) : null;
    if (at === null) filters.addError(name, t("field.wrong"));
    return at;
  };
  const [from, to] = [day("from", 0), day("to", DAY_MS - 1)];
  if (from === null || to === null || from <= to) return { from, to };
  filters.addError("from", t("field.fromAfterTo"));
  return { from: null, to: null };
}
