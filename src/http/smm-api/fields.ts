// The fields of a request, from its query and its body (a form or JSON). Body fields override query fields.

import { isExact, parseJsonExactly } from "../../domain/values/json-numbers.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { announcesTooMuch, refuseBroken } from "../read/body.ts";
import { queryOf } from "../read/query.ts";
import type { IncomingRequest } from "../../http1/request.ts";

const MULTIPART = /^multipart\/form-data\s*;/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
/** Start of a JSON body. Some clients send JSON without its content type; no form begins like this. */
const JSON_START = /^\s*\{/;
const JSON_LIST_START = /^\s*[[{]/;
/** Name of a list entry as PHP writes it in a form: `orders[]`, `orders[0]`. */
const LIST_NAME = /^([^[\]]+)\[\d*\]$/;

/** Number of an order, a service or a refill. Leading zeros are ignored. */
export const NUMBER = /^0*([1-9]\d{0,14})$/;

const utf8 = new TextDecoder("utf-8", { fatal: true });

export class Fields {
  /** Values by name; the last value of a name counts. An object is a list whose parts are read on demand. */
  readonly #values: ReadonlyMap<string, string | object>;

  constructor(values: ReadonlyMap<string, string | object>) {
    this.#values = values;
  }

  /** Returns the trimmed text; null when it is absent, empty or a list. */
  text(name: string): string | null {
    const value = this.#values.get(name);
    const text = typeof value === "string" ? value.trim() : "";
    return text === "" ? null : text;
  }

  isList(name: string): boolean {
    return typeof this.#values.get(name) === "object";
  }

  /** Returns the parts of a list: an array, a text with a JSON list, or a text with commas. */
  list(name: string): string[] {
    const value = this.#values.get(name) ?? [];
    const parts = typeof value === "string" ? splitList(value) : listOf(value);
    return parts.map((part) => part.trim()).filter((part) => part !== "");
  }
}

/** Reads the fields. Refuses: body_too_large, headers_too_large, body_invalid. */
export async function readFields(request: IncomingRequest): Promise<Fields> {
  const body = fieldsIn(await readBytes(request), request.headers.get("content-type") ?? "");
  const values = new Map<string, string | object>();
  addPairs(values, queryOf(request));
  for (const [name, value] of await body) values.set(name, value);
  return new Fields(values);
}

async function readBytes(request: IncomingRequest): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = announcesTooMuch(request) ? null : await request.body().catch(refuseBroken);
  if (!bytes) throw refusal("body_too_large");
  return bytes as Uint8Array<ArrayBuffer>;
}

async function fieldsIn(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
): Promise<Map<string, string | object>> {
  const values = new Map<string, string | object>();
  if (bytes.byteLength === 0) return values;
  if (MULTIPART.test(type)) {
    addPairs(values, await multipartPairs(bytes, type));
    return values;
  }
  const text = decode(bytes);
  if (JSON_TYPE.test(type) || JSON_START.test(text)) return jsonFields(text);
  addPairs(values, new URLSearchParams(text));
  return values;
}

async function multipartPairs(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
): Promise<[string, string][]> {
  const form = await new Response(bytes, { headers: { "content-type": type } })
    .formData()
    .catch(() => {
      throw unreadable();
    });
  return [...form].map(([name, value]) => {
    if (typeof value !== "string") throw unreadable();
    return [name, value];
  });
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw unreadable();
  }
}

function jsonFields(text: string): Map<string, string | object> {
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw unreadable();
  const values = new Map<string, string | object>();
  for (const [name, value] of Object.entries(json)) {
    const isScalar = typeof value !== "object" || value === null;
    values.set(name, isScalar ? scalarText(value) : value);
  }
  return values;
}

/** Returns the parts of an array or object. PHP writes a list as an object if its keys are not 0, 1, 2… */
function listOf(value: object): string[] {
  return Object.values(value).map(scalarText);
}

/** Keeps the text of every number except whole numbers that a double holds: rounding would make two references one. */
const NUMBERS = {
  replaced: JSON.stringify,
  isKept: (number: string) => Number.isSafeInteger(Number(number)) && isExact(number),
  suspect: /-?\d[\d.eE+-]{15,}|-?\d{1,15}[.eE][\d.eE+-]*/,
};

function parseJson(text: string): unknown {
  try {
    return parseJsonExactly(text, NUMBERS);
  } catch {
    throw unreadable();
  }
}

/** Returns "", which means absent, for anything but a string, number or boolean. */
function scalarText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function addPairs(values: Map<string, string | object>, pairs: Iterable<[string, string]>): void {
  for (const [written, value] of pairs) {
    const name = LIST_NAME.exec(written)?.[1];
    if (name === undefined) {
      values.set(written, value);
      continue;
    }
    const list = values.get(name);
    if (Array.isArray(list)) list.push(value);
    else values.set(name, [value]);
  }
}

function splitList(text: string): string[] {
  return JSON_LIST_START.test(text) ? listOf(parseJson(text) as object) : text.split(",");
}

function unreadable(): Refusal {
  return new Refusal("body_invalid", { must: "valid JSON" });
}
