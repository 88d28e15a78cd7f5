// The type of an operation's description, from which the OpenAPI document, the documentation page and tests are made.

import type { Refusal } from "../domain/refusals.ts";

/** A JSON Schema of OpenAPI 3.1. */
export type Schema = Record<string, unknown>;

export interface Parameter {
  name: string;
  in: "path" | "query";
  description: string;
  schema: Schema;
}

/** A call and its response. The tests make the call and compare the response. */
export interface Example {
  /** Unique within its operation. */
  name: string;
  summary: string;
  /** Values of path and query parameters. */
  parameters?: Record<string, string>;
  body?: object;
  /** The body of a 200, or a refusal. */
  response: object | Refusal;
}

export interface Operation {
  id: string;
  tag: "Services" | "Orders" | "Balance" | "Users" | "Webhooks" | "Testing";
  summary: string;
  description: string;
  parameters?: readonly Parameter[];
  /** The name of the body's schema. */
  body?: string;
  /** Whether it works without a body too. */
  isBodyOptional?: true;
  /** Whether it honours Idempotency-Key. */
  idempotent?: true;
  /** The name of the schema of a 200. */
  response: string;
  /** Another form of the 200. */
  csv?: { description: string; example: string };
  /** The first is what the page shows; each is replayed by the tests. */
  examples: readonly Example[];
  /** Refusals that neither the examples show nor every call may get, each with example details. */
  refusals: readonly Refusal[];
}

export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
