// Reads a request body: bytes up to a limit, strict UTF-8, strict JSON, strict fields.
// No refusal repeats any part of the body.

import {
  CALLER_MEMBERS,
  type CallerTexts,
  callerTexts,
} from "../../domain/orders/order-members.ts";
import { BrokenOff } from "../../http1/parser.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { BATCH_FORM, BATCH_LIMIT, BODY_LIMIT_BYTES } from "../../domain/values/limits.ts";
import { parseJsonExactly } from "../../domain/values/json-numbers.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { EXTRA_FIELDS, type GivenFields } from "../../domain/orders/order-fields.ts";
import type { CallerKey } from "../../db/users/keys.ts";
import { isMistypedMagicLink, MAGIC_LINK_FORM } from "../../domain/orders/sandbox.ts";
import {
  AMOUNT,
  COUNT,
  type JsonKind,
  LINK,
  oneOf,
  QUANTITY,
  type Reading,
  label,
  USERNAME,
} from "../../domain/values/kinds.ts";
import {
  WEBHOOK_EVENT_TYPES,
  type WebhookEventType,
} from "../../domain/webhooks/webhook-events.ts";

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export type Fields = Record<string, unknown>;

export interface Body {
  /** The body as it was sent. */
  bytes: Uint8Array;
  fields: Fields;
}

/** Reads the body. Refuses, in this order: body_too_large or headers_too_large, content_type_invalid, body_invalid. */
export async function readBody(request: IncomingRequest): Promise<Body> {
  const bytes = await readSentBytes(request);
  return { bytes, fields: fieldsIn(request, bytes) };
}

function readSentBytes(request: IncomingRequest): Promise<Uint8Array> {
  return readBytes(request).catch(refuseBroken);
}

/** Throws the refusal for a body that broke off: the client disconnected, or its chunked encoding was invalid. */
export function refuseBroken(error: unknown): never {
  if (!(error instanceof BrokenOff)) throw error;
  throw error.status === 431
    ? refusal("headers_too_large")
    : new Refusal("body_invalid", { must: "valid JSON" });
}

function fieldsIn(request: IncomingRequest, bytes: Uint8Array): Fields {
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    throw refusal("content_type_invalid");
  }
  return parseFields(bytes);
}

/** Reads the body, if any, of a request that takes no fields. Refuses as readBody does. */
export async function readOptionalBytes(request: IncomingRequest): Promise<Uint8Array> {
  if (!hasBody(request)) return new Uint8Array();
  const bytes = await readSentBytes(request);
  if (bytes.byteLength > 0) fieldsIn(request, bytes);
  return bytes;
}

/** Reads the fields of a request whose body is optional; without a body it has none. Refuses as readBody does. */
export async function readOptionalBody(request: IncomingRequest): Promise<Fields> {
  return hasBody(request) ? (await readBody(request)).fields : {};
}

function hasBody({ headers }: Pick<IncomingRequest, "headers">): boolean {
  const isThere = headers.has("content-length") || headers.has("content-type");
  return isThere && headers.get("content-length") !== "0";
}

/** Returns whether Content-Length exceeds the limit. */
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
    value = parseJsonExactly(utf8.decode(bytes), { replaced: neitherWholeNorMicros });
  } catch {
    throw new Refusal("body_invalid", { must: "valid JSON" });
  }
  return objectOf(value);
}

/**
 * Replaces a number that a double would round with a number of the same size and seven decimals, which every field
 * refuses. If a double has no room for the decimals, the number is beyond every limit.
 */
function neitherWholeNorMicros(number: string): string {
  const whole = Math.trunc(Math.abs(Number(number)));
  return (number.startsWith("-") ? "-" : "") + String(whole + 5e-7);
}

/** Returns the value as an object. Refuses: body_invalid. */
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

/**
 * Returns text that is safe to look up: NULs, which PostgreSQL refuses, are replaced. No stored text has a NUL, and no
 * id has the replacement, so a text with NULs is not found.
 */
export function lookedUp(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

/** `link`, trimmed. With a test key a mistyped magic link is refused, because it would silently have no effect. */
export function linkField(fields: Fields, { testOf }: Pick<CallerKey, "testOf">): string {
  const link = read(fields, "link", LINK);
  if (testOf !== null && isMistypedMagicLink(link)) throw invalidField("link", MAGIC_LINK_FORM);
  return link;
}

/** `quantity`: null when it is absent, for service types without a quantity. */
export function quantityField(fields: Fields): number | null {
  return readOptional(fields, "quantity", QUANTITY);
}

const CALLER_KINDS = CALLER_MEMBERS.map(({ name, field, longest }) => ({
  name,
  field,
  kind: label(longest),
}));

/** The texts that a caller may give its order; null where they are absent. */
export function callerTextFields(fields: Fields): CallerTexts {
  const texts = callerTexts({});
  for (const { name, field, kind } of CALLER_KINDS) texts[field] = readOptional(fields, name, kind);
  return texts;
}

const EXTRA: ReadonlySet<string> = new Set(EXTRA_FIELDS);

/**
 * Returns the fields that only some service types take, or undefined if there are none. They are not checked yet: what
 * they must be depends on the service.
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

/** `status`: an order's status. */
export function orderStatusField(fields: Fields): OrderStatus {
  return read(fields, "status", oneOf(ORDER_STATUSES));
}

/** `type`: a webhook event's type. */
export function eventTypeField(fields: Fields): WebhookEventType {
  return read(fields, "type", oneOf(WEBHOOK_EVENT_TYPES));
}

export function remainsField(fields: Fields): number {
  return read(fields, "remains", COUNT);
}

export function usernameField(fields: Fields): string {
  return read(fields, "username", USERNAME);
}

/** `amount` in micros. */
export function amountField(fields: Fields): number {
  return read(fields, "amount", AMOUNT);
}

/** Reads a field of a kind. Refuses: field_missing, field_invalid. */
function read<Value>(fields: Fields, field: string, kind: JsonKind<Value>): Value {
  return valueOf(field, kind.readJson(required(fields, field)));
}

/** Reads an optional field of a kind; null when it is absent or null. Refuses: field_invalid. */
export function readOptional<Value>(
  fields: Fields,
  field: string,
  kind: JsonKind<Value>,
): Value | null {
  const given = optional(fields, field);
  return given === null ? null : valueOf(field, kind.readJson(given));
}

/** Returns the value that was read. Refuses: field_invalid. */
export function valueOf<Value>(field: string, found: Reading<Value>): Value {
  if ("must" in found) throw invalidField(field, found.must);
  return found.value;
}

export function required(fields: Fields, field: string): unknown {
  const value = optional(fields, field);
  if (value === null) throw new Refusal("field_missing", { field });
  return value;
}

/** Returns a field's value, not checked yet; null when it is absent or null. */
export function optional(fields: Fields, field: string): unknown {
  return Object.hasOwn(fields, field) ? (fields[field] ?? null) : null;
}

/** Makes the refusal of a malformed field, header or filter. */
export function invalidField(field: string, must: string): Refusal {
  return new Refusal("field_invalid", { field, must });
}
