// Dates and times as people and programs write them. docs/specification/http.md#lists-times.

/** Matches a date, or a date and a time with its zone. */
const TIME =
  /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

export const TIME_FORM = "an ISO 8601 time such as 2026-01-31T09:30:00Z, or a date";

/**
 * Parses a date or a time to milliseconds since 1970; null when malformed. A date without a time is 0:00 UTC plus
 * `dateSpan`.
 */
export function parseTime(text: string, dateSpan: number): number | null {
  const match = TIME.exec(text);
  const day = match?.[1] ?? "";
  // Date would turn the 30th of February into a day of March.
  if (!match || !new Date(day).toJSON()?.startsWith(day)) return null;
  return match[2] === undefined ? Date.parse(day) + dateSpan : Date.parse(text);
}

/** Formats a time in UTC, to the second. */
export function utcText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
