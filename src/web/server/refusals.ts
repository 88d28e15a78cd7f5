// Shows a refusal on a page: its message, and the field that may have caused it.

import { entryOf, type Refusal } from "../../domain/values/error-table.ts";
import { ENGLISH, type SiteWords } from "./words.ts";

/** Returns the message for a refusal and the sent field to show it beside, or "" for no field. */
export function shownRefusal(
  refused: Refusal,
  sent: { has(field: string): boolean },
  words: SiteWords = ENGLISH,
): { message: string; field: string } {
  const { fields = [] } = entryOf(refused);
  const { details } = refused;
  const named = details !== null && "field" in details ? [details.field] : fields;
  const row = details !== null && "index" in details ? `Row ${details.index + 1}: ` : "";
  return {
    message: row + words.refusal(refused),
    field: named.find((field) => sent.has(field)) ?? "",
  };
}

export function isAbsence(refused: Refusal): boolean {
  return entryOf(refused).isAbsence === true;
}
