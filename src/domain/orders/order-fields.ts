// Extra fields of an order, which depend on the type of its service (service-types.ts): reads them, stores them as
// JSON, shows them and sends them to the provider. docs/specification/catalogue.md#service-types.

import { ERASED } from "../users/erasures.ts";
import { QUANTITY_LIMIT } from "./orders.ts";
import { Refusal } from "../values/error-table.ts";
import {
  type ServiceType,
  TYPE_FIELDS,
  type TypeField,
  typeTerms,
} from "../catalogue/service-types.ts";
import { isLabel } from "../values/text.ts";

export const LINES_LIMIT = 10_000;
export const LINE_LENGTH_LIMIT = 2048;
export const LINES_FORM = `1 to ${LINES_LIMIT} lines of 1 to ${LINE_LENGTH_LIMIT} characters without control characters`;
export const TEXT_LENGTH_LIMIT = 2048;
export const TEXT_FORM = `1 to ${TEXT_LENGTH_LIMIT} characters without control characters`;
export const ANSWER_LIMIT = 1_000_000;
export const RUNS_LIMIT = 10_000;
/** Limit for the minutes between two runs: a year. */
export const INTERVAL_LIMIT = 525_600;

/** Fields that hold one item per line. */
export const LINE_FIELDS: ReadonlySet<ExtraField> = new Set<ExtraField>([
  "comments",
  "keywords",
  "usernames",
  "hashtags",
  "groups",
]);

/** Fields of drip-feed orders: `runs` times the quantity, one run every `interval` minutes. */
export const DRIP_FIELDS = ["runs", "interval"] as const;
type DripField = (typeof DRIP_FIELDS)[number];
export type ExtraField = TypeField | DripField;
export const EXTRA_FIELDS: readonly ExtraField[] = [...TYPE_FIELDS, ...DRIP_FIELDS];

/** The unchecked extra fields of a request, by name. False: neither text nor a number. */
export type GivenFields = Readonly<Record<string, string | number | false>>;

/** The stored extra fields of an order. Lines within a field are separated by a line feed. */
export type OrderExtra = { type: ServiceType } & { [Field in ExtraField]?: string | number };

/** The fields of a service that decide the terms of its orders. */
interface OrderedService {
  type: ServiceType;
  min: number;
  max: number;
  dripfeed: boolean;
}

export interface AskedOrder {
  /** Whole, 1 to QUANTITY_LIMIT; null when not given. */
  quantity: number | null;
  /** Absent when no extra field was given. */
  given?: GivenFields;
}

export interface OrderTerms {
  /** The charged quantity; for a drip-feed, that of all runs. */
  quantity: number;
  /** OrderExtra as JSON; null for an order with only a link and a quantity. */
  extra: string | null;
}

/**
 * Decides the terms of an order of the service. Refuses, in this order: field_missing and field_invalid for the
 * quantity and the type's fields, quantity_below_minimum, quantity_above_maximum.
 */
export function orderTerms(service: OrderedService, asked: AskedOrder): OrderTerms {
  const { type } = service;
  const { quantity } = asked;
  if (type === "default" && asked.given === undefined && quantity !== null) {
    refuseOutOfBounds(service, quantity);
    return { quantity, extra: null };
  }
  const { quantity: source, fields } = typeTerms(type);
  const { given = {} } = asked;
  if (source === "named" && quantity === null) throw missing("quantity");
  const extra: OrderExtra = { type };
  for (const field of fields) extra[field] = readField(field, given);
  const runs = readDripFeed(service, given, extra);
  if (source === "size") return { quantity: service.min, extra: JSON.stringify(extra) };
  const single = source === "named" ? quantity! : countLines(extra[source]);
  refuseOutOfBounds(service, single);
  const total = single * runs;
  if (total > QUANTITY_LIMIT) {
    throw invalid(
      "runs",
      `small enough to keep the quantity of all runs at most ${QUANTITY_LIMIT}`,
    );
  }
  const isPlain = type === "default" && extra.runs === undefined;
  return { quantity: total, extra: isPlain ? null : JSON.stringify(extra) };
}

/** Refuses a quantity outside the service's bounds. Refuses: quantity_below_minimum, quantity_above_maximum. */
function refuseOutOfBounds({ min, max }: OrderedService, quantity: number): void {
  if (quantity < min) throw new Refusal("quantity_below_minimum", { min });
  if (quantity > max) throw new Refusal("quantity_above_maximum", { max });
}

/** Adds the fields of a drip-feed to `extra`. Returns how many times the quantity is delivered. */
function readDripFeed({ dripfeed }: OrderedService, given: GivenFields, extra: OrderExtra): number {
  const asked = DRIP_FIELDS.find((field) => given[field] !== undefined);
  if (asked === undefined) return 1;
  // Ignoring the field would deliver and charge something else than was ordered.
  if (!dripfeed) throw invalid(asked, "absent: the service has no drip-feed");
  const runs = readWhole("runs", given, RUNS_LIMIT);
  extra.runs = runs;
  extra.interval = readWhole("interval", given, INTERVAL_LIMIT);
  return runs;
}

function readField(field: TypeField, given: GivenFields): string | number {
  if (LINE_FIELDS.has(field)) return readLines(field, given);
  if (field === "answer_number") return readWhole(field, given, ANSWER_LIMIT);
  return readText(field, given, isUnused(field, given));
}

/** The type of traffic that uses each field: from a search for the keyword, or from the referring address. */
const USED_BY: Partial<Record<ExtraField, string>> = { google_keyword: "1", referring_url: "2" };

/** Fields that may be empty if the type of traffic does not use them. */
export const MAY_BE_EMPTY: ReadonlySet<string> = new Set(Object.keys(USED_BY));

function isUnused(field: TypeField, given: GivenFields): boolean {
  const user = USED_BY[field];
  return user !== undefined && String(given["type_of_traffic"]).trim() !== user;
}

/** Reads the lines of a field: trimmed, without empty ones, joined by line feeds. */
function readLines(field: TypeField, given: GivenFields): string {
  const value = required(field, given);
  const lines = typeof value === "string" ? linesOf(value) : [];
  const isRight =
    lines.length >= 1 &&
    lines.length <= LINES_LIMIT &&
    lines.every((line) => isLabel(line, LINE_LENGTH_LIMIT));
  if (!isRight) throw invalid(field, LINES_FORM);
  return lines.join("\n");
}

function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/**
 * Returns the extra fields that were typed as text, such as in a form, as the member `given`; an empty object if there
 * are none. Digits in the fields of drip-feeds become numbers, as request bodies have them.
 */
export function givenFields(texts: Readonly<Partial<Record<ExtraField, string>>>): {
  given?: GivenFields;
} {
  const given: Record<string, string | number> = {};
  for (const [name, text] of Object.entries(texts)) {
    // Any other text stays, so that it is refused.
    const isNumber = DRIP_FIELDS.some((field) => field === name) && /^\d+$/.test(text);
    given[name] = isNumber ? Number(text) : text;
  }
  return Object.keys(given).length === 0 ? {} : { given };
}

/** Counts the lines of a stored field. */
function countLines(kept: string | number | undefined): number {
  return String(kept).split("\n").length;
}

/** Reads and trims a text. Also accepts a whole number, because some programs send texts such as the device as one. */
function readText(field: TypeField, given: GivenFields, mayBeEmpty: boolean): string {
  const value = required(field, given);
  const isNumber = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  const text = typeof value === "string" || isNumber ? String(value).trim() : null;
  if (text === "" && mayBeEmpty) return text;
  if (text === null || !isLabel(text, TEXT_LENGTH_LIMIT)) throw invalid(field, TEXT_FORM);
  return text;
}

/** Reads a whole number. `answer_number`, which is only passed on, may also be a text of digits. */
function readWhole(field: ExtraField, given: GivenFields, most: number): number {
  const value = required(field, given);
  const isDigits = field === "answer_number" && /^\d{1,15}$/.test(String(value));
  const whole = isDigits ? Number(value) : value;
  if (typeof whole !== "number" || !Number.isInteger(whole)) throw invalid(field, "a whole number");
  if (whole < 1 || whole > most) throw invalid(field, `a whole number from 1 to ${most}`);
  return whole;
}

function required(field: ExtraField, given: GivenFields): string | number | false {
  const value = given[field];
  if (value === undefined) throw missing(field);
  return value;
}

/** The stored fields of an order from which its extra fields are read. */
interface KeptOrder {
  quantity: number;
  extra: string | null;
}

export function parseExtra(extra: string): OrderExtra {
  return JSON.parse(extra) as OrderExtra;
}

/**
 * Returns the extra fields after the erasure of the user's personal data. The type, numbers and the number of lines
 * stay, because the lines were charged. A trigger in migrations/ allows exactly this change.
 */
export function erasedExtra(extra: string): string {
  const left = Object.entries(parseExtra(extra)).map(([field, value]) => {
    const stays = field === "type" || value === "" || typeof value === "number";
    return [field, stays ? value : Array(countLines(value)).fill(ERASED).join("\n")];
  });
  return JSON.stringify(Object.fromEntries(left));
}

/** Returns the quantity as ordered; for a drip-feed, that of one run. */
export function orderedQuantity({ quantity, extra }: KeptOrder): number {
  if (extra === null) return quantity;
  const { runs = 1 } = parseExtra(extra);
  return quantity / Number(runs);
}

/** Returns the extra fields by name. */
export function extraFields({ extra }: Pick<KeptOrder, "extra">): Omit<OrderExtra, "type"> {
  if (extra === null) return {};
  const { type: _, ...fields } = parseExtra(extra);
  return fields;
}

/** Returns the type of the service when the order was placed. */
export function orderType({ extra }: Pick<KeptOrder, "extra">): ServiceType {
  return extra === null ? "default" : parseExtra(extra).type;
}

/** Returns the quantity and the extra fields as the protocol of providers names them, all as text. */
export function upstreamFields(order: KeptOrder): Record<string, string> {
  const fields: Record<string, string> = {};
  if (typeTerms(orderType(order)).quantity === "named") {
    fields["quantity"] = String(orderedQuantity(order));
  }
  for (const [name, value] of Object.entries(extraFields(order))) {
    if (value !== "") fields[name] = String(value);
  }
  return fields;
}

/** Describes a contradiction between the stored extra fields and the quantity; null when they agree. */
export function extraProblem({ quantity, extra }: KeptOrder): string | null {
  if (extra === null) return null;
  const kept = parseExtra(extra);
  const { quantity: source } = typeTerms(kept.type);
  if (!Number.isInteger(orderedQuantity({ quantity, extra }))) {
    return `quantity is ${quantity}, not a multiple of its ${kept.runs} runs`;
  }
  if (source === "named" || source === "size") return null;
  const lines = countLines(kept[source]);
  return lines === quantity ? null : `quantity is ${quantity}, its ${source} are ${lines} lines`;
}

function missing(field: string): Refusal {
  return new Refusal("field_missing", { field });
}

function invalid(field: string, must: string): Refusal {
  return new Refusal("field_invalid", { field, must });
}
