// Parts of the schemas.

import { CUID_PATTERN } from "../../domain/values/text.ts";
import { CURSOR } from "./examples.ts";
import type { Schema } from "./operation.ts";

export const usd = (description: string): Schema => ({
  type: "number",
  description: `${description} In USD, with at most six decimals.`,
});
export const text = (description: string, more: Schema = {}): Schema => ({
  type: "string",
  description,
  ...more,
});
export const whole = (description: string, minimum: number, maximum?: number): Schema => ({
  type: "integer",
  description,
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});
export const flag = (description: string): Schema => ({ type: "boolean", description });
export const nullable = (type: string, description: string, more: Schema = {}): Schema => ({
  type: [type, "null"],
  description,
  ...more,
});
export const cuid = (description: string) => text(description, { pattern: CUID_PATTERN });
export const time = (description: string) =>
  text(`${description} ISO 8601, UTC, with milliseconds.`, { format: "date-time" });

/** An object with exactly these members; those named in `optional` may be missing. */
export function object(description: string, properties: Schema, optional: string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", description, properties, required, additionalProperties: false };
}

/** The body of a request. */
export function body(description: string, properties: Schema, required: string[]): Schema {
  return { type: "object", description, properties, required };
}

export function listOf(items: Schema, description: string): Schema {
  return { type: "array", items, description };
}

export const success = text("Always `success`.", { const: "success" });
export const nextCursor = nullable(
  "string",
  "Give it as `cursor` to read on; null at the end. A page may hold fewer than `limit` before the end.",
  { examples: [CURSOR] },
);
