// The type of an operation's description. The OpenAPI document, the documentation page and tests are made from it.

import type { Refusal } from "../../domain/values/error-table.ts";

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
  /** Whether the body may be left out. */
  isBodyOptional?: true;
  /** Whether it honours Idempotency-Key. */
  idempotent?: true;
  /** The name of the schema of a 200. */
  response: string;
  /** Another form of the 200. */
  csv?: { description: string; example: string };
  /** The page shows the first example; the tests replay each. */
  examples: readonly Example[];
  /** Refusals, with example details, that are neither in the examples nor common to all calls. */
  refusals: readonly Refusal[];
}

/** Names the keys that may order, in the descriptions of operations. */
export const NEEDS_ORDER_KEY = "Needs an Order Key or Full Access.";

export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
