// Error responses: one for each refusal, from its entry in the error table, and a few others. Messages and statuses are
// specified in docs/specification/http.md#error-table. `code` is for programs: it never changes, even if the message
// does.

import {
  entryOf,
  type Refusal,
  refusal,
  REFUSALS,
  textOf,
} from "../../domain/values/error-table.ts";
import { INCORRECT_REQUEST } from "../../domain/values/request-refusals.ts";

export interface ErrorResponse {
  status: number;
  code: string;
  message: string;
  headers?: Record<string, string>;
  /** Further members of the body. */
  members?: Record<string, unknown>;
  /** The text under /api/v2; an error without one is an internal error there. */
  smmApi?: string;
}

export const INTERNAL = errorResponseOf(refusal("internal_error"))!;
export const NOT_FOUND = errorResponseOf(refusal("not_found"))!;

/** Responses to bytes that are not a valid HTTP request. The connection closes after each of them. */
export const MALFORMED = {
  400: { status: 400, code: "request_malformed", message: "Malformed request" },
  431: errorResponseOf(refusal("headers_too_large"))!,
  505: { status: 505, code: "http_version_unsupported", message: "HTTP version not supported" },
} satisfies Record<number, ErrorResponse>;

/**
 * Codes of the refusals that API calls meet. `internal_error` is left out: only a magic link throws it as a refusal.
 */
export const REFUSAL_CODES: readonly string[] = Object.entries(REFUSALS)
  .filter(([code, { status }]) => status !== undefined && code !== INTERNAL.code)
  .map(([code]) => code);

/**
 * Returns the response to a refusal; undefined for a refusal that the API does not expect, which callers report as an
 * internal error.
 */
export function errorResponseOf(refused: Refusal): ErrorResponse | undefined {
  const { status, message, headers, members, smmApi } = entryOf(refused);
  if (status === undefined) return undefined;
  const { code, details } = refused;
  return {
    status,
    code,
    message: textOf(message, details),
    ...(headers && { headers: headers(details) }),
    ...(members && { members: members(details) }),
    ...(smmApi !== undefined && { smmApi: textOf(smmApi, details) }),
  };
}

/** Returns the body of an error response. */
export function errorBody(response: ErrorResponse, requestId: string): string {
  return JSON.stringify({ ...errorMembers(response), requestId });
}

/** Returns the members that describe the error, without the request id. */
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
    smmApi: INCORRECT_REQUEST,
  };
}
