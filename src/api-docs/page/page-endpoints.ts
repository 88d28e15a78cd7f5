// One endpoint on the documentation page: its parameters, its body, a call and its response, its errors.

import type { Content, OpenApiDocument, OpenApiOperation } from "../schemas/document.ts";
import { IDEMPOTENCY_KEY } from "../schemas/examples.ts";
import { code, html, type Html, prose, table } from "./html.ts";
import type { Schema } from "../schemas/operation.ts";

export interface Endpoint {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

const JSON_TYPE = "application/json";

export function renderEndpoint(document: OpenApiDocument, endpoint: Endpoint): Html {
  const { path, method, operation } = endpoint;
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const response = operation.responses["200"]!.content[JSON_TYPE]!.schema;
  return html`<article>
    <h3 id="${operation.operationId}">${operation.summary}</h3>
    <p class="route">
      <span class="method ${method}">${method.toUpperCase()}</span> <span>${path}</span>
    </p>
    <p>${prose(operation.description)}</p>
    ${renderParameters(operation)}
    ${
      body &&
      html`<h4>Body</h4>
        ${renderFields(document, body, `Body: ${operation.summary}`)}`
    }
    <div class="pair">${renderCall(endpoint)}${renderAnswer(operation)}</div>
    <details>
      <summary>Fields of the answer</summary>
      ${renderFields(document, response, `Answer: ${operation.summary}`)}
    </details>
    ${renderErrorList(operation)}
  </article>`;
}

function renderParameters({ parameters, summary }: OpenApiOperation): Html | undefined {
  // The guide describes once the parameter that every call takes.
  const own = parameters.filter(({ name }) => name !== "x-request-id");
  if (own.length === 0) return undefined;
  const rows = own.map(({ name, in: where, required, description, schema }) => [
    html`<code>${name}</code><span class="type">${where}${required && ", required"}</span>`,
    html`${prose(description)} ${limitsOf(schema)}`,
  ]);
  return html`<h4>Parameters and headers</h4>
    ${table(["Name", "Meaning"], rows, `Parameters: ${summary}`)}`;
}

/** Lists the members of an object; members of nested objects follow below their name. */
export function renderFields(document: OpenApiDocument, schema: Schema, about: string): Html {
  const rows = [...fieldsOf(document, schema, "")].map(({ name, type, required, field }) => [
    html`<code>${name}</code><span class="type">${type}${!required && ", optional"}</span>`,
    html`${prose(textOf(field["description"]))} ${limitsOf(field)}`,
  ]);
  return table(["Field", "Meaning"], rows, about);
}

interface Field {
  name: string;
  type: string;
  required: boolean;
  field: Schema;
}

function* fieldsOf(document: OpenApiDocument, schema: Schema, prefix: string): Generator<Field> {
  const { properties = {}, required = [] } = resolve(document, schema) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  for (const [name, property] of Object.entries(properties)) {
    const found = resolve(document, property);
    const inner = innerOf(document, found);
    const type = typeOf(found);
    const field = { ...found, ...property };
    yield { name: prefix + name, type, required: required.includes(name), field };
    for (const each of inner) {
      yield* fieldsOf(document, each, `${prefix}${name}${type === "array" ? "[]." : "."}`);
    }
  }
}

/** Returns the object in a field that is an object or a list of objects. If there are several forms, it is the first. */
function innerOf(document: OpenApiDocument, field: Schema): Schema[] {
  const items = field["items"] ? resolve(document, field["items"] as Schema) : field;
  const [form] = (items["oneOf"] ?? []) as Schema[];
  if (form) return [form];
  return items["properties"] ? [items] : [];
}

function typeOf({ type }: Schema): string {
  return Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "object";
}

function limitsOf(schema: Schema): Html {
  const { minimum, maximum, maxLength, enum: words, default: usual, items } = schema;
  const { enum: listed } = (items ?? {}) as Schema;
  const limits = [
    minimum !== undefined && maximum !== undefined && `${textOf(minimum)} to ${textOf(maximum)}.`,
    maxLength !== undefined && `At most ${textOf(maxLength)} characters.`,
    Array.isArray(words) && `One of ${words.join(", ")}.`,
    Array.isArray(listed) && `Any of ${listed.join(", ")}.`,
    usual !== undefined && `Default ${textOf(usual)}.`,
  ].filter((limit) => limit !== false);
  return html`${limits.length > 0 && html`<span class="type">${limits.join(" ")}</span>`}`;
}

/** Returns a string or number of a schema as text; empty for anything else. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function resolve(document: OpenApiDocument, schema: Schema): Schema {
  const reference = schema["$ref"];
  const [only, ...others] = (schema["allOf"] ?? []) as Schema[];
  // A reference that has a description of its own.
  if (only && others.length === 0) return { ...resolve(document, only), ...schema };
  if (typeof reference !== "string") return schema;
  return document.components.schemas[reference.split("/").at(-1)!]!;
}

/** Returns the first example as a command line. */
function renderCall({ path, method, operation }: Endpoint): Html {
  const { "x-request": request = {} } = firstExample(operation.responses["200"]!.content)!;
  const { parameters = {}, body } = request;
  const written = path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? name);
  const query = Object.entries(parameters)
    .filter(([name]) => !path.includes(`{${name}}`))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const url = `RESELLER_URL_HERE${written}${query && `?${query}`}`;
  // Without -X, curl sends a GET, or a POST if -d is given.
  const needsMethod = method !== (body ? "post" : "get");
  const lines = [
    `curl ${needsMethod ? `-X ${method.toUpperCase()} ` : ""}-H 'x-api-key: RESELLER_KEY_HERE'`,
  ];
  if (body) lines.push("-H 'Content-Type: application/json'");
  if (operation.parameters.some(({ name }) => name === "Idempotency-Key")) {
    lines.push(`-H 'Idempotency-Key: ${IDEMPOTENCY_KEY}'`);
  }
  if (body) lines.push(`-d '${JSON.stringify(body)}'`);
  lines.push(`'${url}'`);
  return code(lines.join(" \\\n  "), "Call");
}

function renderAnswer(operation: OpenApiOperation): Html {
  const { value } = firstExample(operation.responses["200"]!.content)!;
  return code(JSON.stringify(value, null, 2), "200");
}

function firstExample(content: Content) {
  return Object.values(content[JSON_TYPE]!.examples ?? {})[0];
}

function renderErrorList({ responses, summary }: OpenApiOperation): Html {
  const rows = errorRows(responses);
  return html`<details>
    <summary>Errors: ${rows.length}</summary>
    ${table(["Code", "Message"], rows, `Errors: ${summary}`)}
  </details>`;
}

/** Returns code, status and message of every error of an operation, by status. */
export function errorRows(responses: OpenApiOperation["responses"]): Html[][] {
  return Object.entries(responses)
    .filter(([status]) => status !== "200")
    .flatMap(([status, { content }]) =>
      Object.values(content[JSON_TYPE]!.examples ?? {}).map(({ value }) => {
        const { code: word, message } = value as { code: string; message: string };
        return [html`<code>${word}</code><span class="type">${status}</span>`, html`${message}`];
      }),
    );
}
