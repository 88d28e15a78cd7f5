// The error responses in the OpenAPI document: each operation has the errors of its examples and the errors that any
// call may get.

import type {
  ExampleRequest,
  OpenApiOperation,
  OpenApiResponse,
} from "../../api-docs/schemas/document.ts";
import { REQUEST_ID } from "../../api-docs/schemas/examples.ts";
import { type Example, type Operation, schemaRef } from "../../api-docs/schemas/operation.ts";
import { KEY_FORM } from "../../domain/values/idempotency.ts";
import { BODY_LIMIT_TEXT } from "../../domain/values/limits.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { RouteNeeds } from "./auth.ts";
import { RATE_EXAMPLE } from "./rate-limits.ts";
import { errorMembers, type ErrorResponse, errorResponseOf, INTERNAL } from "./errors.ts";

export const REASONS: Record<number, string> = {
  200: "Success",
  400: "The request was refused",
  401: "The key is missing or unknown",
  403: "The key may not do that",
  404: "Not found",
  409: "The reference is taken",
  413: `The body is over ${BODY_LIMIT_TEXT}`,
  415: "The Content-Type of the body is not JSON",
  422: "The Idempotency-Key was used for another request",
  429: "Nothing was changed; wait and try again",
  500: "Internal error of the service",
  502: "The provider refused",
  503: "Nothing was changed; try again",
};

/** Returns the error responses by status, each with its possible codes and an example of each. */
export function errorsOf(operation: Operation, needs: RouteNeeds): OpenApiOperation["responses"] {
  const named = new Map<string, NamedError>();
  for (const example of operation.examples) {
    const { name, summary, response } = example;
    if (!(response instanceof Refusal)) continue;
    named.set(name, { summary, response: responseTo(response), request: requestOf(example) });
  }
  const known = new Set([...named.values()].map(({ response }) => response.message));
  for (const response of [...commonRefusals(operation, needs).map(responseTo), INTERNAL]) {
    if (known.has(response.message)) continue;
    const name = named.has(response.code) ? `${response.code}_${named.size}` : response.code;
    named.set(name, { summary: response.message, response });
  }
  const statuses = Object.groupBy(named, ([, { response }]) => response.status);
  return Object.fromEntries(
    Object.entries(statuses).map(([status, errors]) => [status, errorResponse(status, errors!)]),
  );
}

/** Returns the errors that any call of the operation may get. */
function commonRefusals(operation: Operation, { permission }: RouteNeeds): Refusal[] {
  const reading: Refusal[] = [
    refusal("api_key_missing"),
    refusal("api_key_invalid"),
    refusal("api_key_inactive"),
    refusal("api_key_expired"),
    refusal("api_key_address_refused"),
    new Refusal("permission_denied", { permission }),
    new Refusal("too_many_requests", RATE_EXAMPLE),
    refusal("service_unavailable"),
    ...operation.refusals,
  ];
  // An idempotent operation that needs no body still refuses one that it cannot read.
  if (operation.body === undefined && !operation.idempotent) return reading;
  const writing: Refusal[] = [
    refusal("body_too_large"),
    refusal("content_type_invalid"),
    new Refusal("body_invalid", { must: "valid JSON" }),
    new Refusal("body_invalid", { must: "a JSON object" }),
  ];
  const keyed: Refusal[] = [
    new Refusal("field_invalid", { field: "Idempotency-Key", must: KEY_FORM }),
    refusal("idempotency_key_reused"),
  ];
  return operation.idempotent ? [...reading, ...writing, ...keyed] : [...reading, ...writing];
}

interface NamedError {
  summary: string;
  response: ErrorResponse;
  request?: ExampleRequest;
}

function responseTo(refused: Refusal): ErrorResponse {
  const response = errorResponseOf(refused);
  if (!response) throw new Error(`${refused.code} has no response`);
  return response;
}

function errorResponse(
  status: string,
  errors: readonly (readonly [string, NamedError])[],
): OpenApiOperation["responses"][string] {
  const codes = [...new Set(errors.map(([, { response }]) => response.code))];
  const retry = errors.some(([, { response }]) => response.headers?.["retry-after"] !== undefined);
  return {
    description: `${REASONS[Number(status)]}: ${codes.map((code) => `\`${code}\``).join(", ")}`,
    headers: retry ? { ...COMMON_HEADERS, ...RETRY_HEADER } : COMMON_HEADERS,
    content: {
      "application/json": {
        schema: { allOf: [schemaRef("Error"), { properties: { code: { enum: codes } } }] },
        examples: Object.fromEntries(
          errors.map(([name, { summary, response, request }]) => [
            name,
            {
              summary,
              value: { ...errorMembers(response), requestId: REQUEST_ID },
              ...(request && { "x-request": request }),
            },
          ]),
        ),
      },
    },
  };
}

export const COMMON_HEADERS: OpenApiResponse["headers"] = {
  "x-request-id": {
    description: "Id of the request: yours if you sent one, otherwise ours.",
    required: true,
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description: "The limits that apply to your key and your account.",
    schema: { type: "string" },
  },
  RateLimit: {
    description:
      "What is left of your requests; in a refusal by a limit, what is left of that limit.",
    schema: { type: "string" },
  },
  "X-Test-Mode": {
    description: "`true` in every answer to a test key.",
    schema: { type: "string", const: "true" },
  },
};

const RETRY_HEADER = {
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
};

export function requestOf({ parameters, body }: Example): ExampleRequest {
  return { ...(parameters && { parameters }), ...(body && { body }) };
}
