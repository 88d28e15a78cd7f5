// One endpoint on the documentation page: its parameters, its body, a call and its response, its errors.

/** @jsxImportSource preact */

import type { Content, OpenApiDocument, OpenApiOperation } from "../schemas/document.ts";
import { IDEMPOTENCY_KEY } from "../schemas/examples.ts";
import { Code, Prose, Table } from "./parts.tsx";
import type { Schema } from "../schemas/operation.ts";

export interface Endpoint {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

const JSON_TYPE = "application/json";

export function EndpointArticle({
  document,
  endpoint,
}: {
  document: OpenApiDocument;
  endpoint: Endpoint;
}) {
  const { path, method, operation } = endpoint;
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const response = operation.responses["200"]!.content[JSON_TYPE]!.schema;
  return (
    <article>
      <h3 id={operation.operationId}>{operation.summary}</h3>
      <p class="route">
        <span class={`method ${method}`}>{method.toUpperCase()}</span> <span>{path}</span>
      </p>
      <p>
        <Prose text={operation.description} />
      </p>
      <Parameters operation={operation} />
      {body && (
        <>
          <h4>Body</h4>
          <Fields document={document} schema={body} about={`Body: ${operation.summary}`} />
        </>
      )}
      <div class="pair">
        <Call endpoint={endpoint} />
        <Answer operation={operation} />
      </div>
      <details>
        <summary>Fields of the answer</summary>
        <Fields document={document} schema={response} about={`Answer: ${operation.summary}`} />
      </details>
      <ErrorList operation={operation} />
    </article>
  );
}

function Parameters({ operation: { parameters, summary } }: { operation: OpenApiOperation }) {
  // The guide describes once the parameter that every call takes.
  const own = parameters.filter(({ name }) => name !== "x-request-id");
  if (own.length === 0) return undefined;
  const rows = own.map(({ name, in: where, required, description, schema }) => [
    <>
      <code>{name}</code>
      <span class="type">
        {where}
        {required && ", required"}
      </span>
    </>,
    <>
      <Prose text={description} /> <Limits schema={schema} />
    </>,
  ]);
  return (
    <>
      <h4>Parameters and headers</h4>
      <Table headings={["Name", "Meaning"]} rows={rows} about={`Parameters: ${summary}`} />
    </>
  );
}

/** Lists the members of an object; members of nested objects follow below their name. */
export function Fields({
  document,
  schema,
  about,
}: {
  document: OpenApiDocument;
  schema: Schema;
  about: string;
}) {
  const rows = [...fieldsOf(document, schema, "")].map(({ name, type, required, field }) => [
    <>
      <code>{name}</code>
      <span class="type">
        {type}
        {!required && ", optional"}
      </span>
    </>,
    <>
      <Prose text={textOf(field["description"])} /> <Limits schema={field} />
    </>,
  ]);
  return <Table headings={["Field", "Meaning"]} rows={rows} about={about} />;
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
    const inner = nestedObject(document, found);
    const type = typeOf(found);
    const field = { ...found, ...property };
    yield { name: prefix + name, type, required: required.includes(name), field };
    for (const each of inner) {
      yield* fieldsOf(document, each, `${prefix}${name}${type === "array" ? "[]." : "."}`);
    }
  }
}

/** Returns the schema of a field's object, or of the objects in its list; of several forms the first. Else nothing. */
function nestedObject(document: OpenApiDocument, field: Schema): Schema[] {
  const items = field["items"] ? resolve(document, field["items"] as Schema) : field;
  const [form] = (items["oneOf"] ?? []) as Schema[];
  if (form) return [form];
  return items["properties"] ? [items] : [];
}

function typeOf({ type }: Schema): string {
  return Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "object";
}

function Limits({ schema }: { schema: Schema }) {
  const { minimum, maximum, maxLength, enum: words, default: usual, items } = schema;
  const { enum: listed } = (items ?? {}) as Schema;
  const limits = [
    minimum !== undefined && maximum !== undefined && `${textOf(minimum)} to ${textOf(maximum)}.`,
    maxLength !== undefined && `At most ${textOf(maxLength)} characters.`,
    Array.isArray(words) && `One of ${words.join(", ")}.`,
    Array.isArray(listed) && `Any of ${listed.join(", ")}.`,
    usual !== undefined && `Default ${textOf(usual)}.`,
  ].filter((limit) => limit !== false);
  return <>{limits.length > 0 && <span class="type">{limits.join(" ")}</span>}</>;
}

/** Returns a string or number of a schema as text; empty for anything else. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function resolve(document: OpenApiDocument, schema: Schema): Schema {
  const reference = schema["$ref"];
  const [only, ...others] = (schema["allOf"] ?? []) as Schema[];
  // A reference with a description of its own is written as an allOf of one schema.
  if (only && others.length === 0) return { ...resolve(document, only), ...schema };
  if (typeof reference !== "string") return schema;
  return document.components.schemas[reference.split("/").at(-1)!]!;
}

/** Returns the first example as a command line. */
function Call({ endpoint: { path, method, operation } }: { endpoint: Endpoint }) {
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
  return <Code text={lines.join(" \\\n  ")} label="Call" />;
}

function Answer({ operation }: { operation: OpenApiOperation }) {
  const { value } = firstExample(operation.responses["200"]!.content)!;
  return <Code text={JSON.stringify(value, null, 2)} label="200" />;
}

function firstExample(content: Content) {
  return Object.values(content[JSON_TYPE]!.examples ?? {})[0];
}

function ErrorList({ operation: { responses, summary } }: { operation: OpenApiOperation }) {
  const errors = errorsOf(responses);
  return (
    <details>
      <summary>Errors: {errors.length}</summary>
      <ErrorTable message="Message" errors={errors} about={`Errors: ${summary}`} />
    </details>
  );
}

export interface DocumentedError {
  code: string;
  status: string;
  message: string;
}

/** Returns the errors of an operation, by status. */
export function errorsOf(responses: OpenApiOperation["responses"]): DocumentedError[] {
  return Object.entries(responses)
    .filter(([status]) => status !== "200")
    .flatMap(([status, { content }]) =>
      Object.values(content[JSON_TYPE]!.examples ?? {}).map(({ value }) => {
        const { code, message } = value as { code: string; message: string };
        return { code, status, message };
      }),
    );
}

/** `message`: heading of the column of messages. */
export function ErrorTable({
  message: heading,
  errors,
  about,
}: {
  message: string;
  errors: readonly DocumentedError[];
  about?: string;
}) {
  const headings = ["Code", heading];
  const rows = errors.map(({ code, status, message }) => [
    <>
      <code>{code}</code>
      <span class="type">{status}</span>
    </>,
    message,
  ]);
  return <Table headings={headings} rows={rows} about={about ?? headings.join(", ")} />;
}
