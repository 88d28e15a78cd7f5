// The fields of a request of a panel: those of its query, and over them those of its body, as a form or as JSON.

import { Refusal, refusal } from "../domain/refusals.ts";
import { announcesTooMuch } from "../http/body.ts";
import { queryOf } from "../http/query.ts";
import type { IncomingRequest } from "../http1/request.ts";

const MULTIPART = /^multipart\/form-data\s*;/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
/** Some clients send JSON without saying so. No form begins like that. */
const JSON_START = /^\s*\{/;
const JSON_LIST_START = /^\s*[[{]/;
/** A list as PHP writes it in a form: `orders[]`, `orders[0]`. */
const LIST_NAME = /^([^[\]]+)\[\d*\]$/;

/** A number of an order, of a service or of a refill; leading zeros are of no meaning. */
export const NUMBER = /^0*([1-9]\d{0,14})$/;

const utf8 = new TextDecoder("utf-8", { fatal: true });

export class Fields {
  /** The last one of a name counts; an array is a list. */
  readonly #values: ReadonlyMap<string, string | readonly string[]>;

  constructor(values: ReadonlyMap<string, string | readonly string[]>) {
    this.#values = values;
  }

  /** Without blanks round it; null when it is absent, empty or a list. */
  text(name: string): string | null {
    const value = this.#values.get(name);
    const text = typeof value === "string" ? value.trim() : "";
    return text === "" ? null : text;
  }

  isList(name: string): boolean {
    return Array.isArray(this.#values.get(name));
  }

  /** The parts of a list: of an array, of one as JSON in a text, or separated by commas. */
  list(name: string): string[] {
    const value = this.#values.get(name) ?? [];
    const parts = typeof value === "string" ? splitList(value) : value;
    return parts.map((part) => part.trim()).filter((part) => part !== "");
  }
}

/** Refuses: body_too_large, body_invalid. */
export async function readFields(request: IncomingRequest): Promise<Fields> {
  const body = fieldsIn(await readBytes(request), request.headers.get("content-type") ?? "");
  const values = new Map<string, string | string[]>();
  addPairs(values, queryOf(request));
  for (const [name, value] of await body) values.set(name, value);
  return new Fields(values);
}

async function readBytes(request: IncomingRequest): Promise<Uint8Array<ArrayBuffer>> {
  const read = announcesTooMuch(request) ? null : request.body();
  // Rejects when the client disconnected or its chunked encoding was invalid.
  const bytes = await read?.catch(() => {
    throw unreadable();
  });
  if (!bytes) throw refusal("body_too_large");
  return bytes as Uint8Array<ArrayBuffer>;
}

async function fieldsIn(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
): Promise<Map<string, string | string[]>> {
  const values = new Map<string, string | string[]>();
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

function jsonFields(text: string): Map<string, string | string[]> {
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw unreadable();
  const values = new Map<string, string | string[]>();
  for (const [name, value] of Object.entries(json)) {
    const isScalar = typeof value !== "object" || value === null;
    values.set(name, isScalar ? scalarText(value) : listOf(value));
  }
  return values;
}

/** Of an object too: that is how PHP writes a list whose keys are not 0, 1, 2… */
function listOf(value: object): string[] {
  return Object.values(value).map(scalarText);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, exactNumber);
  } catch {
    throw unreadable();
  }
}

/** A number beyond those that are exact keeps its text: rounded, two references would become one. */
function exactNumber(_: string, value: unknown, context?: { source: string }): unknown {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
  return isRounded ? (context?.source ?? value) : value;
}

/** Empty, which is as good as absent, for what is no text, number or boolean. */
function scalarText(value: unknown): string {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
}

function addPairs(values: Map<string, string | string[]>, pairs: Iterable<[string, string]>): void {
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
