// Adds an example to every member of the objects, for tools that read only schemas. The examples come from the examples of
// the calls, which the tests replay.

import type { Content, OpenApiDocument, OpenApiOperation } from "./document.ts";
import type { Schema } from "./operation.ts";

/** Returns the document with `examples` in the schemas of its objects' members. */
export function withFieldExamples(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document);
  const { schemas } = copy.components;
  for (const { schema, examples = {} } of contentsOf(copy)) {
    for (const { value } of Object.values(examples)) addExamples(schema, value, schemas);
  }
  return copy;
}

function contentsOf({ paths, webhooks }: OpenApiDocument): Content[string][] {
  const operations = [paths, webhooks].flatMap((items) =>
    Object.values(items).flatMap((methods): OpenApiOperation[] => Object.values(methods)),
  );
  return operations.flatMap(({ requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((each) =>
      Object.values(each?.content ?? {}),
    ),
  );
}

type Schemas = Record<string, Schema>;

function resolved(schema: Schema, schemas: Schemas): Schema {
  const { $ref } = schema;
  return typeof $ref === "string" ? schemas[$ref.split("/").at(-1)!]! : schema;
}

function addExamples(given: Schema, value: unknown, schemas: Schemas): void {
  const schema = resolved(given, schemas);
  for (const each of alternativesOf(schema)) {
    if (fitsSchema(resolved(each, schemas), value)) addExamples(each, value, schemas);
  }
  const { properties = {}, items } = schema as { properties?: Schemas; items?: Schema };
  if (Array.isArray(value)) {
    if (items) for (const each of value) addExamples(items, each, schemas);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const property = properties[name];
      if (property === undefined) continue;
      addExamples(property, member, schemas);
      if (property["$ref"] === undefined && member !== null) property["examples"] ??= [member];
    }
  }
}

function alternativesOf({ anyOf = [], oneOf = [], allOf = [] }: Schema): Schema[] {
  return [anyOf, oneOf, allOf].flat() as Schema[];
}

/** Whether a value has the members of a schema, which is enough to distinguish the schemas here. */
function fitsSchema({ type, required = [], properties = {} }: Schema, value: unknown): boolean {
  if (Array.isArray(value)) return type === "array";
  if (typeof value !== "object" || value === null) return false;
  const members = Object.keys(properties as object);
  return (
    (required as string[]).every((name) => name in value) &&
    (members.length === 0 || Object.keys(value).some((name) => members.includes(name)))
  );
}
