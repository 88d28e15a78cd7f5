// One table from refusal to answer. Messages and status codes are docs/specification.md#error-table.
// `code` is for programs: once given it never changes, whatever becomes of the message.

import type { RateExceeded, Refusal, RefusalCode, Refusals } from "../domain/errors.ts";
import { orderStatus } from "../domain/responses.ts";

/** What a caller should wait before it tries again after a 503. */
const RETRY_AFTER_SECONDS = "1";

export interface ErrorResponse {
  status: number;
  code: string;
  message: string;
  headers?: Record<string, string>;
  /** Further members of the body. */
  members?: Record<string, unknown>;
}

export const INTERNAL: ErrorResponse = {
  status: 500,
  code: "internal_error",
  message: "Internal server error",
};
export const NOT_FOUND: ErrorResponse = { status: 404, code: "not_found", message: "Not found" };

/** Bytes that are no HTTP request; the connection ends with each. */
export const MALFORMED = {
  400: { status: 400, code: "request_malformed", message: "Malformed request" },
  431: { status: 431, code: "headers_too_large", message: "Request headers too large" },
  505: { status: 505, code: "http_version_unsupported", message: "HTTP version not supported" },
} satisfies Record<number, ErrorResponse>;

/** Every refusal that an API call can meet. One that is missing here is a fault of ours: a 500. */
const ERROR_RESPONSES: { [Code in RefusalCode]?: (details: Refusals[Code]) => ErrorResponse } = {
  key_missing: () => ({
    status: 401,
    code: "api_key_missing",
    message: "X-API-Key header is required",
  }),
  key_unknown: () => ({ status: 401, code: "api_key_invalid", message: "Invalid API key" }),
  key_inactive: () => ({ status: 403, code: "api_key_inactive", message: "API key is inactive" }),
  key_expired: () => ({ status: 403, code: "api_key_expired", message: "API key has expired" }),
  key_address_refused: () => ({
    status: 403,
    code: "api_key_address_refused",
    message: "This API key may not be used from this address",
  }),
  permission_missing: ({ permission }) => ({
    status: 403,
    code: "permission_denied",
    message: `This API key does not have ${permission} permission`,
  }),
  user_out_of_reach: () => ({
    status: 403,
    code: "user_out_of_reach",
    message: "This API key may not access this user",
  }),
  content_type_invalid: () => ({
    status: 415,
    code: "content_type_invalid",
    message: "Content-Type must be application/json",
  }),
  body_too_large: () => ({
    status: 413,
    code: "body_too_large",
    message: "Request body too large",
    headers: { connection: "close" },
  }),
  body_not_json: () => ({
    status: 400,
    code: "body_invalid",
    message: "Request body must be valid JSON",
  }),
  body_not_object: () => ({
    status: 400,
    code: "body_invalid",
    message: "Request body must be a JSON object",
  }),
  field_missing: ({ field }) => ({
    status: 400,
    code: "field_missing",
    message: `${field} is required`,
    members: { field },
  }),
  field_invalid: ({ field, must }) => ({
    status: 400,
    code: "field_invalid",
    message: `${field} must be ${must}`,
    members: { field },
  }),
  service_not_found: () => ({
    status: 400,
    code: "service_not_found",
    message: "Service not found",
  }),
  quantity_below_minimum: ({ min }) => ({
    status: 400,
    code: "quantity_below_minimum",
    message: `Minimum order is ${min}`,
  }),
  quantity_above_maximum: ({ max }) => ({
    status: 400,
    code: "quantity_above_maximum",
    message: `Maximum order is ${max}`,
  }),
  insufficient_balance: () => ({
    status: 400,
    code: "insufficient_balance",
    message: "Insufficient balance",
  }),
  balance_too_large: () => ({
    status: 400,
    code: "balance_too_large",
    message: "amount must be small enough to keep the balance at or below 9000000000",
  }),
  deposits_too_large: () => ({
    status: 400,
    code: "deposits_too_large",
    message: "amount must be small enough to keep credits less debits at or below 9000000000000",
  }),
  charge_too_large: () => ({
    status: 400,
    code: "charge_too_large",
    message: "quantity must be small enough to keep the charge at or below 9007199254.740991",
  }),
  reference_taken: ({ order }) => ({
    status: 409,
    code: "reference_taken",
    message: "Reference was already used",
    members: { order: orderStatus(order) },
  }),
  order_not_found: () => ({ status: 404, code: "order_not_found", message: "Order not found" }),
  user_not_found: () => ({ status: 404, code: "user_not_found", message: "User not found" }),
  user_unknown: () => ({
    status: 404,
    code: "user_not_found",
    message: "User not found",
    members: { exists: false },
  }),
  idempotency_key_reused: () => ({
    status: 422,
    code: "idempotency_key_reused",
    message: "Idempotency-Key was already used for a different request",
  }),
  provider_refused: ({ order }) => ({
    status: 502,
    code: "provider_refused",
    message: "The provider refused the order; the charge was refunded",
    members: { order },
  }),
  too_many_requests: (exceeded) => ({
    status: 429,
    code: "too_many_requests",
    message: "Too many requests",
    headers: rateHeaders(exceeded),
  }),
  unavailable: () => ({
    status: 503,
    code: "service_unavailable",
    message: "Service temporarily unavailable",
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  }),
};

/** How much is allowed, and when to come back. */
function rateHeaders(exceeded: RateExceeded): Record<string, string> {
  const { requests, windowSeconds, burst, retryAfterSeconds } = exceeded;
  return {
    "retry-after": String(retryAfterSeconds),
    "ratelimit-limit": String(requests),
    "ratelimit-remaining": "0",
    "ratelimit-reset": String(retryAfterSeconds),
    "ratelimit-policy": `${requests};w=${windowSeconds};burst=${burst}`,
  };
}

/** Undefined for a refusal that no API call should meet. */
export function errorResponseOf<Code extends RefusalCode>(
  refusal: Refusal<Code>,
): ErrorResponse | undefined {
  return ERROR_RESPONSES[refusal.code]?.(refusal.details);
}

/** The body of an answer that is not a success. */
export function errorBody(answer: ErrorResponse, requestId: string): string {
  return JSON.stringify({ ...errorMembers(answer), requestId });
}

/** What it says of the refusal alone. */
export function errorMembers({ code, message, members }: ErrorResponse): object {
  return { status: "error", message, code, ...members };
}

/** `allow`: the methods that the path has. */
export function methodNotAllowed(allow: string): ErrorResponse {
  return {
    status: 405,
    code: "method_not_allowed",
    message: "Method not allowed",
    headers: { allow },
  };
}
