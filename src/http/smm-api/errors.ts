// Error responses in the words that panels recognise. docs/specification/smm-api.md#v2-errors. The refusals are those
// of /api/v1, and their entries have the words.

import { REFUSALS } from "../../domain/values/error-table.ts";
import type { ErrorResponse } from "../server/errors.ts";

/** Text in place of an order's status in a list. */
export const INCORRECT_ORDER = REFUSALS.order_not_found.smmApi;
export const REFILL_NOT_FOUND = "Refill not found";

/**
 * Statuses that are sent unchanged: nothing was changed, it is unknown what was changed, or the request is at fault.
 * Any other status is sent as 200, because panels would lose its message or send the request again.
 */
const KEPT_STATUSES = new Set([405, 413, 429, 431, 500, 503]);

export interface SmmError {
  status: number;
  words: string;
  headers: Record<string, string>;
}

/** Returns null for a refusal that a panel's request cannot get. */
export function smmErrorOf(response: ErrorResponse): SmmError | null {
  const { status, smmApi: words } = response;
  if (words === undefined) return null;
  const isKept = KEPT_STATUSES.has(status);
  return { status: isKept ? status : 200, words, headers: isKept ? (response.headers ?? {}) : {} };
}
