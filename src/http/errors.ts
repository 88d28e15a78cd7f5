// One table from refusal to answer. Messages and codes are contract 2, Errors, to the letter.

import type { Refusal, RefusalCode, Refusals } from "../domain/errors.ts";

/** What a caller should wait before it tries again after a 503. */
const RETRY_AFTER_SECONDS = "1";

export interface Answer {
  status: number;
  message: string;
  headers?: Record<string, string>;
  /** Further members of the body. */
  members?: Record<string, unknown>;
}

export const INTERNAL: Answer = { status: 500, message: "Internal server error" };
export const NOT_FOUND: Answer = { status: 404, message: "Not found" };

/** Every refusal that an API call can meet. One that is missing here is a fault of ours: a 500. */
const ANSWERS: { [Code in RefusalCode]?: (details: Refusals[Code]) => Answer } = {
  key_missing: () => ({ status: 401, message: "X-API-Key header is required" }),
  key_unknown: () => ({ status: 401, message: "Invalid API key" }),
  key_inactive: () => ({ status: 403, message: "API key is inactive" }),
  permission_missing: ({ permission }) => ({
    status: 403,
    message: `This API key does not have ${permission} permission`,
  }),
  user_out_of_reach: () => ({ status: 403, message: "This API key may not access this user" }),
  content_type_invalid: () => ({ status: 415, message: "Content-Type must be application/json" }),
  body_too_large: () => ({
    status: 413,
    message: "Request body too large",
    headers: { connection: "close" },
  }),
  body_not_json: () => ({ status: 400, message: "Request body must be valid JSON" }),
  body_not_object: () => ({ status: 400, message: "Request body must be a JSON object" }),
  field_missing: ({ field }) => ({ status: 400, message: `${field} is required` }),
  field_invalid: ({ field, must }) => ({ status: 400, message: `${field} must be ${must}` }),
  service_not_found: () => ({ status: 400, message: "Service not found" }),
  quantity_below_minimum: ({ min }) => ({ status: 400, message: `Minimum order is ${min}` }),
  quantity_above_maximum: ({ max }) => ({ status: 400, message: `Maximum order is ${max}` }),
  balance_insufficient: () => ({ status: 400, message: "Insufficient balance" }),
  balance_too_large: () => ({
    status: 400,
    message: "amount must be small enough to keep the balance at or below 9000000000",
  }),
  order_not_found: () => ({ status: 404, message: "Order not found" }),
  user_not_found: () => ({ status: 404, message: "User not found" }),
  user_unknown: () => ({ status: 404, message: "User not found", members: { exists: false } }),
  idempotency_key_reused: () => ({
    status: 422,
    message: "Idempotency-Key was already used for a different request",
  }),
  provider_refused: ({ order }) => ({
    status: 502,
    message: "The provider refused the order; the charge was refunded",
    members: { order },
  }),
  unavailable: () => ({
    status: 503,
    message: "Service temporarily unavailable",
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  }),
};

/** Undefined for a refusal that no API call should meet. */
export function answerOf<Code extends RefusalCode>(refusal: Refusal<Code>): Answer | undefined {
  return ANSWERS[refusal.code]?.(refusal.details);
}

/** The body of an answer that is not a success. */
export function errorBody({ message, members }: Answer): string {
  return JSON.stringify({ status: "error", message, ...members });
}

export function methodNotAllowed(method: string): Answer {
  return { status: 405, message: "Method not allowed", headers: { allow: method } };
}
