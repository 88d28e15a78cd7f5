// Checks responses against the OpenAPI document: every call of the test suite goes through here.

import { expect } from "bun:test";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenApiOperation } from "../../../src/api-docs/schemas/document.ts";
import { createDocument } from "../../../src/http/server/openapi.ts";
import type { Answer } from "./api.ts";

export const document = createDocument({ brand: null, contact: null });

const DOCUMENT_ID = "openapi";
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ ...document, $id: DOCUMENT_ID });

const validators = new Map<string, ValidateFunction>();

/** What the document has at a path of member names. */
function validatorAt(...members: string[]): ValidateFunction {
  const pointer = members.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"));
  const reference = `${DOCUMENT_ID}#/${pointer.map(encodeURIComponent).join("/")}`;
  let validator = validators.get(reference);
  if (!validator) validators.set(reference, (validator = ajv.compile({ $ref: reference })));
  return validator;
}

const OPERATIONS = Object.entries(document.paths).map(([path, operations]) => {
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
  return { path, pattern, operations };
});

/** The operation of a method and path of the API; undefined when the document has none. */
export function findOperation(method: string, path: string) {
  const [pathname] = path.split("?");
  // A written path comes before one with a parameter.
  const found = OPERATIONS.filter(({ pattern }) => pattern.test(`/api/v1${pathname}`));
  const { path: written, operations } =
    found.find((each) => !each.path.includes("{")) ?? found[0] ?? {};
  const operation = operations?.[method.toLowerCase()];
  return written && operation ? { written, operation } : undefined;
}

/** Fails when the document does not describe the response: its status, its body, its headers. */
export function expectDocumented(method: string, path: string, answer: Answer): void {
  if (method === "HEAD") return;
  const called = `${method} ${path} → ${answer.status}`;
  const found = findOperation(method, path);
  if (!found || answer.status === 404 || answer.status === 405) {
    if (answer.status >= 400)
      expectValid(called, validatorAt("components", "schemas", "Error"), answer.body);
  }
  if (!found || answer.body?.code === "not_found") return;
  const { written, operation } = found;
  const response = operation.responses[String(answer.status)];
  if (!response) throw new Error(`${called} is not in the document`);
  const members = ["paths", written, method.toLowerCase(), "responses", String(answer.status)];
  expectValid(
    called,
    validatorAt(...members, "content", "application/json", "schema"),
    answer.body,
  );
  for (const [name, header] of Object.entries(response.headers)) {
    if (header.required) {
      expect([name, answer.headers.get(name)]).not.toEqual([name, null]);
    }
  }
}

/** The same for an answer of /api/v2. */
export function expectSmmApiDocumented(answer: Pick<Answer, "status" | "body">): void {
  const { status, body } = answer;
  const members = ["paths", "/api/v2", "post", "responses", String(status)];
  const schema = validatorAt(...members, "content", "application/json", "schema");
  expectValid(`/api/v2 → ${status}`, schema, body);
}

/** Fails when the document does not describe the body of an event. */
export function expectEventDocumented(body: { type: string }): void {
  const members = ["webhooks", body.type, "post", "requestBody", "content", "application/json"];
  expectValid(body.type, validatorAt(...members, "schema"), body);
}

function expectValid(called: string, validate: ValidateFunction, body: unknown): void {
  if (validate(body)) return;
  const [first] = validate.errors!;
  throw new Error(
    `${called}: ${first!.instancePath} ${first!.message} ${JSON.stringify(first!.params)} in ${JSON.stringify(body)}`,
  );
}

/** Every operation of /api/v1 in the document. */
export function operations(): { method: string; path: string; operation: OpenApiOperation }[] {
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith("/api/v1/"));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace("/api/v1", ""),
      operation,
    })),
  );
}
