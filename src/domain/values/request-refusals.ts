// Refusals that any request may get, because of its body, fields, rate or path.

import { policyItem, rateItem } from "./rate-fields.ts";
import { entry } from "./refusal-entry.ts";

/** The text under /api/v2 when no other text of the protocol fits. */
export const INCORRECT_REQUEST = "Incorrect request";
const SMM_API_FIELDS: Readonly<Record<string, string>> = {
  link: "neworder.error.link",
  quantity: "neworder.error.min_quantity",
};
const smmApiField = ({ field }: { field: string }) => SMM_API_FIELDS[field] ?? INCORRECT_REQUEST;

/** The rate limit that was exceeded, and when the next request is allowed. */
export interface RateExceeded {
  by: "key" | "address";
  /** Requests allowed in each window. */
  requests: number;
  windowSeconds: number;
  /** Requests allowed at once. */
  burst: number;
  retryAfterSeconds: number;
}

const limitName = ({ by }: RateExceeded) => (by === "key" ? "requests" : "unknown-keys");

/** A response to a known key has RateLimit-Policy anyway, with all policies. */
function rateHeaders(exceeded: RateExceeded): Record<string, string> {
  const { by, burst, windowSeconds: seconds, retryAfterSeconds } = exceeded;
  const name = limitName(exceeded);
  return {
    "retry-after": String(retryAfterSeconds),
    ratelimit: rateItem(name, 0, retryAfterSeconds),
    ...(by === "address" && { "ratelimit-policy": policyItem(name, burst, { seconds }) }),
  };
}

export const REQUEST_REFUSALS = {
  field_missing: entry<{ field: string }>({
    status: 400,
    message: ({ field }) => `${field} is required`,
    members: ({ field }) => ({ field }),
    smmApi: smmApiField,
  }),
  field_invalid: entry<{ field: string; must: string }>({
    status: 400,
    message: ({ field, must }) => `${field} must be ${must}`,
    members: ({ field }) => ({ field }),
    smmApi: smmApiField,
  }),
  body_invalid: entry<{ must: "valid JSON" | "a JSON object" }>({
    status: 400,
    message: ({ must }) => `Request body must be ${must}`,
    smmApi: INCORRECT_REQUEST,
  }),
  body_too_large: entry({
    status: 413,
    message: "Request body too large",
    headers: () => ({ connection: "close" }),
    smmApi: INCORRECT_REQUEST,
  }),
  /** Only for bytes of a body that are not content: trailers, and the framing of chunks. */
  headers_too_large: entry({
    status: 431,
    message: "Request headers too large",
    smmApi: INCORRECT_REQUEST,
  }),
  content_type_invalid: entry({
    status: 415,
    message: "Content-Type must be application/json",
  }),
  idempotency_key_reused: entry({
    status: 422,
    message: "Idempotency-Key was already used for a different request",
  }),
  too_many_requests: entry<RateExceeded>({
    status: 429,
    message: "Too many requests",
    headers: rateHeaders,
    members: (exceeded) => ({ limit: limitName(exceeded) }),
    smmApi: "Too many requests",
  }),
  /** The path does not exist, or not for the caller's key. */
  not_found: entry({ status: 404, message: "Not found" }),
  service_unavailable: entry({
    status: 503,
    message: "Service temporarily unavailable",
    hint: "the database takes no writes, because another process holds it or its disk is full",
    commandLine: "see `reseller doctor`",
    headers: () => ({ "retry-after": "1" }),
    smmApi: "Service temporarily unavailable",
  }),
  /** Thrown as a refusal only when a magic link asks for it. */
  internal_error: entry({
    status: 500,
    message: "Internal server error",
    smmApi: "Internal server error",
  }),
};
