// The table from refusal to response. Messages and status codes are specified in docs/specification/http.md#error-table.
// `code` is for programs: it never changes, even if the message does.

import type {
  ApiCode,
  RateExceeded,
  Refusal,
  RefusalCode,
  Refusals,
} from "../../domain/values/refusals.ts";
import {
  BALANCE_LIMIT_MICROS,
  DEPOSIT_LIMIT_MICROS,
  formatMicros,
  TRANSFER_LIMIT_MICROS,
} from "../../domain/ledger/money.ts";
import { orderStatus } from "../../domain/orders/responses.ts";
import { EARLIER_SECRETS_LIMIT, WEBHOOKS_LIMIT } from "../../domain/webhooks/webhooks.ts";

/** Retry-After of a 503, in seconds. */
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

/** Bytes that are not a valid HTTP request; the connection closes after each response. */
export const MALFORMED = {
  400: { status: 400, code: "request_malformed", message: "Malformed request" },
  431: {
    status: 431,
    code: "headers_too_large",
    message: "Request headers too large",
  },
  505: { status: 505, code: "http_version_unsupported", message: "HTTP version not supported" },
} satisfies Record<number, ErrorResponse>;

/** Responses for every refusal that an API call can get. The refusal's code is the response's. */
const ERROR_RESPONSES = {
  api_key_missing: () => ({
    status: 401,
    message: "X-API-Key header is required",
  }),
  api_key_invalid: () => ({ status: 401, message: "Invalid API key" }),
  api_key_inactive: () => ({ status: 403, message: "API key is inactive" }),
  api_key_expired: () => ({ status: 403, message: "API key has expired" }),
  api_key_address_refused: () => ({
    status: 403,
    message: "This API key may not be used from this address",
  }),
  permission_denied: ({ permission }) => ({
    status: 403,
    message: `This API key does not have ${permission} permission`,
  }),
  user_out_of_reach: () => ({
    status: 403,
    message: "This API key may not access this user",
  }),
  recharge_limit_exceeded: ({ limitMicros }) => ({
    status: 403,
    message: `This API key may recharge at most ${formatMicros(limitMicros)} at once`,
  }),
  daily_limit_exceeded: ({ limitMicros, leftMicros }) => ({
    status: 403,
    message: `This API key may recharge at most ${formatMicros(limitMicros)} a day; ${formatMicros(leftMicros)} is left today`,
  }),
  content_type_invalid: () => ({
    status: 415,
    message: "Content-Type must be application/json",
  }),
  body_too_large: () => ({
    status: 413,
    message: "Request body too large",
    headers: { connection: "close" },
  }),
  headers_too_large: () => ({ status: 431, message: MALFORMED[431].message }),
  body_invalid: ({ must }) => ({ status: 400, message: `Request body must be ${must}` }),
  field_missing: ({ field }) => ({
    status: 400,
    message: `${field} is required`,
    members: { field },
  }),
  field_invalid: ({ field, must }) => ({
    status: 400,
    message: `${field} must be ${must}`,
    members: { field },
  }),
  service_not_found: () => ({
    status: 400,
    message: "Service not found",
  }),
  quantity_below_minimum: ({ min }) => ({
    status: 400,
    message: `Minimum order is ${min}`,
  }),
  quantity_above_maximum: ({ max }) => ({
    status: 400,
    message: `Maximum order is ${max}`,
  }),
  insufficient_balance: () => ({
    status: 400,
    message: "Insufficient balance",
  }),
  balance_too_large: () => ({
    status: 400,
    message: `amount must be small enough to keep the balance at or below ${formatMicros(BALANCE_LIMIT_MICROS)}`,
  }),
  deposits_too_large: () => ({
    status: 400,
    message: `amount must be small enough to keep credits less debits at or below ${formatMicros(DEPOSIT_LIMIT_MICROS)}`,
  }),
  charge_too_large: () => ({
    status: 400,
    message: `quantity must be small enough to keep the charge at or below ${formatMicros(TRANSFER_LIMIT_MICROS)}`,
  }),
  reference_taken: ({ order }) => ({
    status: 409,
    message: "Reference was already used",
    members: { order: orderStatus(order) },
  }),
  order_not_found: () => ({ status: 404, message: "Order not found" }),
  order_not_cancellable: () => ({ status: 400, message: "Order cannot be cancelled" }),
  order_not_refillable: () => ({ status: 400, message: "Order cannot be refilled" }),
  request_already_open: () => ({ status: 400, message: "A request is already open" }),
  webhook_not_found: () => ({ status: 404, message: "Webhook not found" }),
  delivery_not_found: () => ({ status: 404, message: "Delivery not found" }),
  webhooks_too_many: () => ({
    status: 400,
    message: `A reseller may have at most ${WEBHOOKS_LIMIT} webhooks`,
  }),
  webhook_secrets_too_many: () => ({
    status: 400,
    message: `A webhook may have at most ${EARLIER_SECRETS_LIMIT} earlier secrets that still sign`,
  }),
  user_not_found: (lookup) => ({
    status: 404,
    message: "User not found",
    ...(lookup && { members: lookup }),
  }),
  idempotency_key_reused: () => ({
    status: 422,
    message: "Idempotency-Key was already used for a different request",
  }),
  provider_refused: ({ order }) => ({
    status: 502,
    message: "The provider refused the order; the charge was refunded",
    members: { order },
  }),
  too_many_requests: (exceeded) => ({
    status: 429,
    message: "Too many requests",
    headers: rateHeaders(exceeded),
  }),
  order_transition_illegal: ({ from, to }) => ({
    status: 400,
    message: `${from} cannot become ${to}`,
  }),
  remains_above_quantity: ({ quantity }) => ({
    status: 400,
    message: `remains must be at most the quantity, ${quantity}`,
    members: { field: "remains" },
  }),
  not_found: () => ({ status: NOT_FOUND.status, message: NOT_FOUND.message }),
  internal_error: () => ({ status: INTERNAL.status, message: INTERNAL.message }),
  service_unavailable: () => ({
    status: 503,
    message: "Service temporarily unavailable",
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  }),
} satisfies { [Code in ApiCode]: (details: Refusals[Code]) => Omit<ErrorResponse, "code"> };

/** Returns the headers with the limit and the time to wait before a retry. */
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

/** Codes of refusals. `internal_error` is left out: it is thrown as a refusal only for a magic link. */
export const REFUSAL_CODES: readonly string[] = Object.keys(ERROR_RESPONSES).filter(
  (code) => code !== INTERNAL.code,
);

/** Returns undefined for a refusal that only the command line can get: in the API it is an internal error. */
export function errorResponseOf({ code, details }: Refusal): ErrorResponse | undefined {
  if (!isApiCode(code)) return undefined;
  const respond = ERROR_RESPONSES[code] as (details: unknown) => Omit<ErrorResponse, "code">;
  return { code, ...respond(details) };
}

function isApiCode(code: RefusalCode): code is ApiCode {
  return Object.hasOwn(ERROR_RESPONSES, code);
}

/** The body of an error response. */
export function errorBody(response: ErrorResponse, requestId: string): string {
  return JSON.stringify({ ...errorMembers(response), requestId });
}

/** The members that describe the refusal, without the request id. */
export function errorMembers({ code, message, members }: ErrorResponse): object {
  return { status: "error", message, code, ...members };
}

/** Returns a 405. `allow` lists the methods that the path supports. */
export function methodNotAllowed(allow: string): ErrorResponse {
  return {
    status: 405,
    code: "method_not_allowed",
    message: "Method not allowed",
    headers: { allow },
  };
}
