// Fields of bodies and answers as tables, read from the schemas of the OpenAPI document.

/** @jsxImportSource preact */

import type { OpenApiDocument } from "../schemas/document.ts";
import type { Schema } from "../schemas/operation.ts";
import { Prose, Table } from "./parts.tsx";

export interface Field {
  /** Path of names, such as `orders[].link`. */
  name: string;
  type: string;
  required: boolean;
  schema: Schema;
}

/** Lists the members of an object; members of nested objects follow below their name. `prefix`: of the rows' ids. */
export function Fields({
  document,
  schema,
  about,
  prefix,
}: {
  document: OpenApiDocument;
  schema: Schema;
  about: string;
  prefix?: string;
}) {
  const rows = fieldsOf(document, schema).map(({ name, type, required, schema: field }) => [
    <>
      <code id={prefix && anchorOf(prefix, name)}>{name}</code>
      <span class="type">
        {type}
        {!required && ", optional"}
      </span>
    </>,
    <Meaning schema={field} />,
  ]);
  return <Table headings={["Field", "Meaning"]} rows={rows} about={about} />;
}

/** Returns the id of a field's row. */
export function anchorOf(prefix: string, name: string): string {
  return `${prefix}.${name.replaceAll("[]", "")}`;
}

/** A description with its limits. */
export function Meaning({ schema }: { schema: Schema }) {
  return (
    <>
      <Prose text={textOf(schema["description"])} /> <Limits schema={schema} />
    </>
  );
}

export function fieldsOf(document: OpenApiDocument, schema: Schema, prefix = ""): Field[] {
  const { properties = {}, required = [] } = resolve(document, schema) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).flatMap(([member, property]) => {
    const found = resolve(document, property);
    const type = typeOf(found);
    const name = prefix + member;
    const field = {
      name,
      type,
      required: required.includes(member),
      schema: { ...found, ...property },
    };
    const inner = nestedObject(document, found);
    return inner === null
      ? [field]
      : [field, ...fieldsOf(document, inner, `${name}${type === "array" ? "[]." : "."}`)];
  });
}

/** Returns the schema of a field's object, or of the objects in its list. Of several forms it returns the first. */
function nestedObject(document: OpenApiDocument, field: Schema): Schema | null {
  const items = field["items"] ? resolve(document, field["items"] as Schema) : field;
  const [form] = (items["oneOf"] ?? []) as Schema[];
  return form ?? (items["properties"] ? items : null);
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
