// Reading a request body: bytes up to a limit, strict UTF-8, strict JSON, strict fields.
// No refusal repeats anything of the body.

import type { IncomingRequest } from "../http1/request.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import { BATCH_FORM, BATCH_LIMIT, BODY_LIMIT_BYTES } from "../domain/limits.ts";
import { AMOUNT_LIMIT_MICROS, microsFromNumber, MICROS_PER_DOLLAR } from "../domain/money.ts";
import {
  isReference,
  LINK_FORM,
  LINK_LENGTH_LIMIT,
  ORDER_STATUSES,
  type OrderStatus,
  QUANTITY_LIMIT,
  REFERENCE_FORM,
} from "../domain/orders.ts";
import { EXTRA_FIELDS, type GivenFields } from "../domain/order-fields.ts";
import { hasControlCharacter } from "../domain/text.ts";
import { isUsername, USERNAME_FORM } from "../domain/users.ts";
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from "../domain/webhook-events.ts";

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export type Fields = Record<string, unknown>;

export interface Body {
  /** The body as it was sent. */
  bytes: Uint8Array;
  fields: Fields;
}

/** Refuses, in this order: body_too_large, content_type_invalid, body_invalid. */
export async function readBody(request: IncomingRequest): Promise<Body> {
  const bytes = await readSentBytes(request);
  return { bytes, fields: fieldsIn(request, bytes) };
}

function readSentBytes(request: IncomingRequest): Promise<Uint8Array> {
  return readBytes(request).catch((error: unknown) => {
    // The client disconnected or its chunked encoding was invalid: no internal error.
    throw error instanceof Refusal ? error : new Refusal("body_invalid", { must: "valid JSON" });
  });
}

function fieldsIn(request: IncomingRequest, bytes: Uint8Array): Fields {
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    throw refusal("content_type_invalid");
  }
  return parseFields(bytes);
}

/** The body, where there is one, of a request that has no fields. Refuses as readBody does. */
export async function readOptionalBytes(request: IncomingRequest): Promise<Uint8Array> {
  if (!hasBody(request)) return new Uint8Array();
  const bytes = await readSentBytes(request);
  if (bytes.byteLength > 0) fieldsIn(request, bytes);
  return bytes;
}

/** For a request that needs no body: without one it has no fields. Refuses as readBody does. */
export async function readOptionalBody(request: IncomingRequest): Promise<Fields> {
  return hasBody(request) ? (await readBody(request)).fields : {};
}

function hasBody({ headers }: Pick<IncomingRequest, "headers">): boolean {
  const isThere = headers.has("content-length") || headers.has("content-type");
  return isThere && headers.get("content-length") !== "0";
}

/** Whether Content-Length exceeds the limit. */
export function announcesTooMuch({ headers }: Pick<IncomingRequest, "headers">): boolean {
  return Number(headers.get("content-length") ?? 0) > BODY_LIMIT_BYTES;
}

async function readBytes(request: IncomingRequest): Promise<Uint8Array> {
  const bytes = announcesTooMuch(request) ? null : await request.body();
  if (bytes === null) throw refusal("body_too_large");
  return bytes;
}

function parseFields(bytes: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Refusal("body_invalid", { must: "valid JSON" });
  }
  return objectOf(value);
}

/** Refuses: body_invalid. */
export function objectOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal("body_invalid", { must: "a JSON object" });
  }
  return value as Fields;
}

/** `service`: any non-empty text; an unknown service is refused later. */
export function serviceField(fields: Fields): string {
  const service = required(fields, "service");
  if (typeof service !== "string" || service === "")
    throw invalidField("service", "a non-empty string");
  return lookedUp(service);
}

/** A text to look up. PostgreSQL takes none with a NUL, which no stored text has; nor has any id the replacement. */
export function lookedUp(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

/** `link`, trimmed. */
export function linkField(fields: Fields): string {
  const value = required(fields, "link");
  const link = typeof value === "string" ? value.trim() : "";
  // A lone surrogate cannot be stored as UTF-8: refuse it rather than change the link silently.
  const valid =
    link !== "" &&
    link.length <= LINK_LENGTH_LIMIT &&
    link.isWellFormed() &&
    !hasControlCharacter(link);
  if (!valid) {
    throw invalidField("link", LINK_FORM);
  }
  return link;
}

/** `quantity`: null when it is absent, for the types of services that have none. */
export function quantityField(fields: Fields): number | null {
  const quantity = optional(fields, "quantity");
  if (quantity === null) return null;
  if (typeof quantity !== "number" || !Number.isInteger(quantity)) {
    throw invalidField("quantity", "a whole number");
  }
  if (quantity < 1 || quantity > QUANTITY_LIMIT) {
    throw invalidField("quantity", `a whole number from 1 to ${QUANTITY_LIMIT}`);
  }
  return quantity;
}

/** `reference`: null when it is absent. */
export function referenceField(fields: Fields): string | null {
  const reference = optional(fields, "reference");
  if (reference === null) return null;
  if (typeof reference !== "string" || !isReference(reference)) {
    throw invalidField("reference", REFERENCE_FORM);
  }
  return reference;
}

const EXTRA: ReadonlySet<string> = new Set(EXTRA_FIELDS);

/**
 * The fields that only some types of services take, not checked yet: what they must be only the service tells. Undefined
 * without any.
 */
export function extraFields(fields: Fields): GivenFields | undefined {
  let given: Record<string, string | number | false> | undefined;
  for (const name in fields) {
    if (!EXTRA.has(name)) continue;
    const value = optional(fields, name);
    if (value === null) continue;
    given ??= {};
    given[name] = typeof value === "string" || typeof value === "number" ? value : false;
  }
  return given;
}

/** `orders`: a list; its entries are not checked here. */
export function ordersField(fields: Fields): unknown[] {
  const orders = required(fields, "orders");
  if (!Array.isArray(orders) || orders.length < 1 || orders.length > BATCH_LIMIT) {
    throw invalidField("orders", BATCH_FORM);
  }
  return orders;
}

/** `status`: one of an order. */
export function orderStatusField(fields: Fields): OrderStatus {
  const status = required(fields, "status");
  const found = ORDER_STATUSES.find((each) => each === status);
  if (!found) throw invalidField("status", `one of ${ORDER_STATUSES.join(", ")}`);
  return found;
}

/** `type`: one of a webhook's event. */
export function eventTypeField(fields: Fields): WebhookEventType {
  const type = required(fields, "type");
  const found = WEBHOOK_EVENT_TYPES.find((each) => each === type);
  if (!found) throw invalidField("type", `one of ${WEBHOOK_EVENT_TYPES.join(", ")}`);
  return found;
}

export function remainsField(fields: Fields): number {
  const remains = required(fields, "remains");
  if (typeof remains !== "number" || !Number.isSafeInteger(remains) || remains < 0) {
    throw invalidField("remains", "a whole number from 0");
  }
  return remains;
}

export function usernameField(fields: Fields): string {
  const username = required(fields, "username");
  if (typeof username !== "string" || !isUsername(username)) {
    throw invalidField("username", USERNAME_FORM);
  }
  return username;
}

/** `amount` in micros. */
export function amountField(fields: Fields): number {
  return microsOf("amount", required(fields, "amount"));
}

/** An amount of money in micros. */
export function microsOf(field: string, amount: unknown): number {
  if (typeof amount !== "number" || !(amount > 0) || amount === Infinity) {
    throw invalidField(field, "a positive number");
  }
  if (amount > AMOUNT_LIMIT_MICROS / MICROS_PER_DOLLAR) {
    throw invalidField(field, `at most ${AMOUNT_LIMIT_MICROS / MICROS_PER_DOLLAR}`);
  }
  const micros = microsFromNumber(amount);
  if (micros === null) throw invalidField(field, "a number with at most six decimals");
  return micros;
}

export function required(fields: Fields, field: string): unknown {
  const value = optional(fields, field);
  if (value === null) throw new Refusal("field_missing", { field });
  return value;
}

/** Null when the field is absent or null. */
export function optional(fields: Fields, field: string): unknown {
  return Object.hasOwn(fields, field) ? (fields[field] ?? null) : null;
}

/** The refusal of a malformed field, header or filter. */
export function invalidField(field: string, must: string): Refusal {
  return new Refusal("field_invalid", { field, must });
}
