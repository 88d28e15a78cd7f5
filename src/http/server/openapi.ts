// The OpenAPI document, generated from the routes, their descriptions and the error table.

import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import { Elysia } from "elysia";
import packageFile from "../../../package.json" with { type: "json" };
import type {
  Content,
  DocumentExample,
  ExampleRequest,
  OpenApiDocument,
  OpenApiOperation,
} from "../../api-docs/schemas/document.ts";
import {
  IDEMPOTENCY_KEY as IDEMPOTENCY_KEY_EXAMPLE,
  REQUEST_ID,
} from "../../api-docs/schemas/examples.ts";
import { withFieldExamples } from "../../api-docs/schemas/field-examples.ts";
import { INTRODUCTION } from "../../api-docs/page/introduction.ts";
import {
  type Example,
  type Operation,
  type Schema,
  schemaRef,
} from "../../api-docs/schemas/operation.ts";
import { SMM_API_OPERATION, SMM_API_PATH, SMM_API_TAG } from "../../api-docs/endpoints/smm-api.ts";
import { SCHEMAS } from "../../api-docs/schemas/schemas.ts";
import { describeEvents } from "../../api-docs/schemas/webhook-events.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { KEY_FORM, KEY_LENGTH_LIMIT, KEY_PATTERN } from "../../domain/values/idempotency.ts";
import { REQUEST_ID_PATTERN } from "../../domain/values/limits.ts";
import { COMMON_HEADERS, errorsOf, REASONS, requestOf } from "./openapi-errors.ts";
import type { Route } from "./api-route.ts";
import { type HandlerDeps, ROUTES } from "./routes.ts";

/** Query parameters that are required. */
const REQUIRED: readonly string[] = ["username", "since"];
const OPENAPI_VERSION = "3.1.1";

/** The operator of the service, as given in the settings. */
export interface Operator {
  brand: string | null;
  /** An e-mail address or an https URL. */
  contact: string | null;
}

/** Creates the document. Its version is the version of this program. */
export function createDocument({ brand, contact }: Operator): OpenApiDocument {
  const described = new Elysia();
  for (const route of ROUTES) {
    const [method, path] = route;
    // Elysia treats `{id}` as plain text, not as a parameter, so it leaves the description in `detail` unchanged.
    const written = path.replace(/:(\w+)/g, "{$1}");
    described.route(method, written, () => null, { detail: detailOf(route) as object });
  }
  const { paths } = toOpenAPISchema(described, undefined, undefined, undefined, OPENAPI_VERSION);
  return withFieldExamples({
    openapi: OPENAPI_VERSION,
    info: {
      title: brand === null ? "Reseller Ordering API" : `${brand} API`,
      version: packageFile.version,
      description: INTRODUCTION,
      ...(contact !== null && {
        contact: {
          ...(brand !== null && { name: brand }),
          ...(contact.startsWith("https://") ? { url: contact } : { email: contact }),
        },
      }),
    },
    servers: [{ url: "/", description: "The server that gave you this document" }],
    security: [{ apiKey: [] }],
    tags: [
      { name: "Services", description: "Services that can be ordered." },
      { name: "Orders", description: "Placing and following orders." },
      { name: "Balance", description: "Balance and transactions." },
      { name: "Users", description: "Looking up users and adding credit." },
      { name: "Webhooks", description: "Notifications of changes." },
      { name: "Testing", description: "Functions only for test keys." },
      SMM_API_TAG,
    ],
    paths: {
      ...(paths as unknown as OpenApiDocument["paths"]),
      [SMM_API_PATH]: { post: SMM_API_OPERATION as OpenApiOperation },
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
  });
}

function detailOf([, , needs, , operation]: Route<HandlerDeps>): OpenApiOperation {
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
  const own = parameters.map((parameter) => {
    const { name, schema } = parameter;
    const [given] = good.flatMap(({ parameters: values }) => values?.[name] ?? []);
    const [written] = (schema["examples"] ?? []) as unknown[];
    return {
      ...parameter,
      required: parameter.in === "path" || REQUIRED.includes(name),
      // A single example: tools that send requests read only `example`.
      example: given === undefined ? written : valueOf(given, schema),
    };
  });
  return idempotent ? [...own, IDEMPOTENCY_KEY, REQUEST_ID_GIVEN] : [...own, REQUEST_ID_GIVEN];
}

/** Returns the example value of a parameter. Query values are text; for a numeric parameter it becomes a number. */
function valueOf(text: string, { type }: Schema): string | number {
  return type === "integer" ? Number(text) : text;
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: `Any text of your own, ${KEY_FORM}: new for every new call, the same for each retry. A request sent again with its key has no second effect and gets the first answer. Kept for at least 24 hours.`,
  schema: { type: "string", minLength: 1, maxLength: KEY_LENGTH_LIMIT, pattern: KEY_PATTERN },
  example: IDEMPOTENCY_KEY_EXAMPLE,
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

const REPLAYED_HEADER = {
  "Idempotent-Replayed": {
    description: "`true` when this is the answer of an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
};

function isGood({ response }: Example): boolean {
  return !(response instanceof Refusal);
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
