// The OpenAPI document, generated from the routes, their descriptions and the error table.

import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import { Elysia } from "elysia";
import packageFile from "../../package.json" with { type: "json" };
import type {
  Content,
  DocumentExample,
  ExampleRequest,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
} from "../api-docs/document.ts";
import { REQUEST_ID } from "../api-docs/examples.ts";
import { INTRODUCTION } from "../api-docs/introduction.ts";
import { type Example, type Operation, type Schema, schemaRef } from "../api-docs/operation.ts";
import { PANEL_OPERATION, PANEL_PATH, PANEL_TAG } from "../api-docs/panels.ts";
import { SCHEMAS } from "../api-docs/schemas.ts";
import { describeEvents } from "../api-docs/webhook-events.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import { KEY_FORM, KEY_LENGTH_LIMIT, KEY_PATTERN } from "../domain/idempotency.ts";
import { BODY_LIMIT_TEXT, REQUEST_ID_PATTERN } from "../domain/limits.ts";
import type { RouteNeeds } from "./auth.ts";
import { type ErrorResponse, errorResponseOf, errorMembers, INTERNAL } from "./errors.ts";
import { type Route, ROUTES } from "./routes.ts";

/** The example of a 429: details of the default rate limit. */
const RATE_EXAMPLE = {
  by: "key",
  requests: 100,
  windowSeconds: 1,
  burst: 200,
  retryAfterSeconds: 1,
} as const;
/** In a query. */
const REQUIRED: readonly string[] = ["username", "since"];
const OPENAPI_VERSION = "3.1.1";
const REASONS: Record<number, string> = {
  200: "Success",
  400: "The request was refused",
  401: "No key, or an unknown one",
  403: "The key may not do that",
  404: "There is no such thing",
  409: "The reference is taken",
  413: `The body is over ${BODY_LIMIT_TEXT}`,
  415: "The body is not announced as JSON",
  422: "The Idempotency-Key was used for another request",
  429: "Nothing was changed: come back later",
  500: "A fault of the service",
  502: "The provider refused",
  503: "Nothing was changed: try again",
};

/** `version` of this program is the version of its document. */
export function createDocument(): OpenApiDocument {
  const described = new Elysia();
  for (const route of ROUTES) {
    const [method, path] = route;
    // To Elysia `{id}` is plain text and not a parameter, so it leaves the description in `detail` as it is.
    const written = path.replace(/:(\w+)/g, "{$1}");
    described.route(method, written, () => null, { detail: detailOf(route) as object });
  }
  const { paths } = toOpenAPISchema(described, undefined, undefined, undefined, OPENAPI_VERSION);
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: "Reseller Ordering API",
      version: packageFile.version,
      description: INTRODUCTION,
    },
    servers: [{ url: "/", description: "The server that gave you this document" }],
    security: [{ apiKey: [] }],
    tags: [
      { name: "Services", description: "What can be ordered." },
      { name: "Orders", description: "Placing orders and following them." },
      { name: "Balance", description: "What is left, and where it went." },
      { name: "Users", description: "Looking users up and adding credit." },
      { name: "Webhooks", description: "Hearing of changes without asking." },
      { name: "Testing", description: "What only test keys can do." },
      PANEL_TAG,
    ],
    paths: {
      ...(paths as unknown as OpenApiDocument["paths"]),
      [PANEL_PATH]: { post: PANEL_OPERATION as OpenApiOperation },
    },
    webhooks: describeEvents(),
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The key that your operator gave you.",
        },
      },
    },
  };
}

function detailOf([, , needs, , operation]: Route): OpenApiOperation {
  const { id, tag, summary, description, body, isBodyOptional = false, examples } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: parametersOf(operation),
    ...(body === undefined
      ? {}
      : { requestBody: { required: !isBodyOptional, content: requestContent(body, examples) } }),
    responses: { "200": successOf(operation), ...errorsOf(operation, needs) },
  };
}

function parametersOf({ parameters = [], idempotent, examples }: Operation) {
  const good = examples.filter(isGood);
  const own = parameters.map((parameter) => ({
    ...parameter,
    required: parameter.in === "path" || REQUIRED.includes(parameter.name),
    ...examplesOf(
      good.filter(({ parameters: values }) => values?.[parameter.name] !== undefined),
      ({ parameters: values }) => valueOf(values![parameter.name]!, parameter.schema),
    ),
  }));
  return idempotent ? [...own, IDEMPOTENCY_KEY, REQUEST_ID_GIVEN] : [...own, REQUEST_ID_GIVEN];
}

/** Query values are text; the example of a numeric parameter becomes a number. */
function valueOf(text: string, { type }: Schema): string | number {
  return type === "integer" ? Number(text) : text;
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: `Any text of your own, ${KEY_FORM}: new for every intent, the same for every retry of it. A request sent again with its key has no second effect and gets the first answer. Kept for at least 24 hours.`,
  schema: { type: "string", minLength: 1, maxLength: KEY_LENGTH_LIMIT, pattern: KEY_PATTERN },
  example: "order-4711",
};

const REQUEST_ID_GIVEN = {
  name: "x-request-id",
  in: "header",
  required: false,
  description: "Your own id for this request; the answer and our log then carry it.",
  schema: { type: "string", pattern: REQUEST_ID_PATTERN },
  example: REQUEST_ID,
};

function requestContent(schema: string, examples: readonly Example[]): Content {
  return {
    "application/json": {
      schema: schemaRef(schema),
      ...examplesOf(examples.filter(isGood), ({ body }) => body),
    },
  };
}

function successOf({ response, csv, examples, idempotent }: Operation) {
  const good = examples.filter(isGood);
  const content: Content = {
    "application/json": {
      schema: schemaRef(response),
      ...examplesOf(good, (each) => each.response, requestOf),
    },
    ...(csv && {
      "text/csv": {
        schema: { type: "string", description: csv.description },
        examples: { statement: { summary: "The same as CSV", value: csv.example } },
      },
    }),
  };
  const headers = idempotent ? { ...COMMON_HEADERS, ...REPLAYED_HEADER } : COMMON_HEADERS;
  return { description: REASONS[200]!, headers, content };
}

/** The error responses by status, each with its possible codes and an example of each. */
function errorsOf(operation: Operation, needs: RouteNeeds): OpenApiOperation["responses"] {
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

/** The errors of an operation that its examples do not show. */
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
  if (operation.body === undefined) return reading;
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

const COMMON_HEADERS: OpenApiResponse["headers"] = {
  "x-request-id": {
    description: "The request's id: yours if you gave one, else ours.",
    required: true,
    schema: { type: "string" },
  },
  "X-Test-Mode": {
    description: "`true` in every answer to a test key.",
    schema: { type: "string", const: "true" },
  },
};

const REPLAYED_HEADER = {
  "Idempotent-Replayed": {
    description: "`true` when this is the answer of an earlier request with the same key.",
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

function isGood({ response }: Example): boolean {
  return !(response instanceof Refusal);
}

function requestOf({ parameters, body }: Example): ExampleRequest {
  return { ...(parameters && { parameters }), ...(body && { body }) };
}

function examplesOf(
  examples: readonly Example[],
  value: (example: Example) => unknown,
  request?: (example: Example) => ExampleRequest,
) {
  if (examples.length === 0) return {};
  const entries = examples.map((example): [string, DocumentExample] => [
    example.name,
    {
      summary: example.summary,
      value: value(example),
      ...(request && { "x-request": request(example) }),
    },
  ]);
  return { examples: Object.fromEntries(entries) };
}
