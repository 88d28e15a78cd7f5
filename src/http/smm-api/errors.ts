// Refusals in the words that panels recognise. docs/specification/smm-api.md#v2-errors. The refusals are those of /api/v1.

import { type ErrorResponse, INTERNAL } from "../server/errors.ts";

const INCORRECT_REQUEST = "Incorrect request";
const INVALID_KEY = "Invalid API key";
/** Used for a whole request, and in place of one order's status in a list. */
export const INCORRECT_ORDER = "Incorrect order ID";
export const REFILL_NOT_FOUND = "Refill not found";

/** Words by refusal code. Those for a missing or malformed field are in FIELD_WORDS. */
const WORDS: Readonly<Record<string, string>> = {
  api_key_missing: INVALID_KEY,
  api_key_invalid: INVALID_KEY,
  api_key_inactive: INVALID_KEY,
  api_key_expired: INVALID_KEY,
  api_key_address_refused: INVALID_KEY,
  permission_denied: INVALID_KEY,
  body_invalid: INCORRECT_REQUEST,
  body_too_large: INCORRECT_REQUEST,
  headers_too_large: INCORRECT_REQUEST,
  method_not_allowed: INCORRECT_REQUEST,
  service_not_found: "error.incorrect_service_id",
  quantity_below_minimum: "neworder.error.min_quantity",
  quantity_above_maximum: "neworder.error.max_quantity",
  charge_too_large: "neworder.error.max_quantity",
  insufficient_balance: "neworder.error.not_enough_funds",
  order_not_found: INCORRECT_ORDER,
  order_not_cancellable: "Order cannot be cancelled",
  order_not_refillable: "Order cannot be refilled",
  request_already_open: "A request is already open",
  too_many_requests: "Too many requests",
  service_unavailable: "Service temporarily unavailable",
  internal_error: INTERNAL.message,
};

const FIELD_WORDS: Readonly<Record<string, string>> = {
  link: "neworder.error.link",
  quantity: "neworder.error.min_quantity",
};

/**
 * Statuses that are sent; any other is sent as 200, because panels lose its message or send the request again. With these
 * statuses nothing was changed, it is unknown what was changed, or the request itself is at fault.
 */
const KEPT_STATUSES = new Set([405, 413, 429, 431, 500, 503]);

export interface PanelError {
  status: number;
  words: string;
  headers: Record<string, string>;
}

/** Returns null for a refusal that a panel's request cannot get. */
export function panelErrorOf(response: ErrorResponse): PanelError | null {
  const { code, members, status } = response;
  const field = code === "field_missing" || code === "field_invalid" ? members?.["field"] : null;
  const words = typeof field === "string" ? (FIELD_WORDS[field] ?? INCORRECT_REQUEST) : WORDS[code];
  if (words === undefined) return null;
  const isKept = KEPT_STATUSES.has(status);
  return { status: isKept ? status : 200, words, headers: isKept ? (response.headers ?? {}) : {} };
}
