// The fields of an order that depend on the type of its service: read, kept as JSON with the order, shown and sent upstream.
// docs/specification.md#service-types. Which fields a type takes: service-types.ts.

import { ERASED } from "./erasures.ts";
import { QUANTITY_LIMIT } from "./orders.ts";
import { Refusal } from "./refusals.ts";
import { type ServiceType, TYPE_FIELDS, type TypeField, typeTerms } from "./service-types.ts";
import { isLabel } from "./text.ts";

export const LINES_LIMIT = 10_000;
export const LINE_LENGTH_LIMIT = 2048;
export const LINES_FORM = `1 to ${LINES_LIMIT} lines of 1 to ${LINE_LENGTH_LIMIT} characters without control characters`;
export const TEXT_LENGTH_LIMIT = 2048;
export const TEXT_FORM = `1 to ${TEXT_LENGTH_LIMIT} characters without control characters`;
export const ANSWER_LIMIT = 1_000_000;
export const RUNS_LIMIT = 10_000;
/** Minutes: a year. */
export const INTERVAL_LIMIT = 525_600;

/** Those that hold a line for each thing. */
export const LINE_FIELDS: ReadonlySet<TypeField> = new Set([
  "comments",
  "keywords",
  "usernames",
  "hashtags",
  "groups",
]);

/** Orders of services with a drip-feed: `runs` times the quantity, one run each `interval` minutes. */
export const DRIP_FIELDS = ["runs", "interval"] as const;
type DripField = (typeof DRIP_FIELDS)[number];
export type ExtraField = TypeField | DripField;
export const EXTRA_FIELDS: readonly ExtraField[] = [...TYPE_FIELDS, ...DRIP_FIELDS];

/** The extra fields of a request, by name, not checked yet. False: neither text nor a number. */
export type GivenFields = Readonly<Record<string, string | number | false>>;

/** What is kept of an order beside its link and quantity; fields of lines hold them with a line feed between two. */
export type OrderExtra = { type: ServiceType } & { [Field in ExtraField]?: string | number };

/** The fields of a service that decide what an order of it is. */
interface OrderedService {
  type: ServiceType;
  min: number;
  max: number;
  dripfeed: boolean;
}

export interface AskedOrder {
  /** Whole, 1 to QUANTITY_LIMIT; null: none was given. */
  quantity: number | null;
  /** Absent: none was given. */
  given?: GivenFields;
}

export interface OrderTerms {
  /** What is charged: of a drip-feed, of all its runs. */
  quantity: number;
  /** OrderExtra as JSON; null for an order of a link and a quantity alone. */
  extra: string | null;
}

/**
 * What an order of the service is. Refuses, in this order: field_missing and field_invalid of the quantity and of the
 * type's fields, quantity_below_minimum, quantity_above_maximum.
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

/** Refuses: quantity_below_minimum, quantity_above_maximum. */
function refuseOutOfBounds({ min, max }: OrderedService, quantity: number): void {
  if (quantity < min) throw new Refusal("quantity_below_minimum", { min });
  if (quantity > max) throw new Refusal("quantity_above_maximum", { max });
}

/** Adds the fields of a drip-feed; returns how many times the quantity is ordered. */
function readDripFeed({ dripfeed }: OrderedService, given: GivenFields, extra: OrderExtra): number {
  const asked = DRIP_FIELDS.find((field) => given[field] !== undefined);
  if (asked === undefined) return 1;
  // Ignored, it would be delivered, and charged, as something else than what was ordered.
  if (!dripfeed) throw invalid(asked, "absent: the service has no drip-feed");
  const runs = readWhole("runs", given, RUNS_LIMIT);
  extra.runs = runs;
  extra.interval = readWhole("interval", given, INTERVAL_LIMIT);
  return runs;
}

function readField(field: TypeField, given: GivenFields): string | number {
  if (LINE_FIELDS.has(field)) return readLines(field, given);
  if (field === "answer_number") return readWhole(field, given, ANSWER_LIMIT);
  const mayBeEmpty =
    (field === "google_keyword" || field === "referring_url") && isUnused(field, given);
  return readText(field, given, mayBeEmpty);
}

/** The kinds of traffic that come from a search for the keyword, and from the other address. */
const USED_BY = { google_keyword: "1", referring_url: "2" };

/** Whether the type of traffic has no use for the field: then it may be empty. */
function isUnused(field: keyof typeof USED_BY, given: GivenFields): boolean {
  return String(given["type_of_traffic"]).trim() !== USED_BY[field];
}

/** Trimmed, without empty lines, a line feed between two. */
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

/** Of the lines as they are kept. */
function countLines(kept: string | number | undefined): number {
  return String(kept).split("\n").length;
}

/** Trimmed. A number that panels give as such, of a device for example, is a text too. */
function readText(field: TypeField, given: GivenFields, mayBeEmpty: boolean): string {
  const value = required(field, given);
  const isNumber = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  const text = typeof value === "string" || isNumber ? String(value).trim() : null;
  if (text === "" && mayBeEmpty) return text;
  if (text === null || !isLabel(text, TEXT_LENGTH_LIMIT)) throw invalid(field, TEXT_FORM);
  return text;
}

/** A number, or its digits where it is only handed on. */
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

/** The fields of an order that its extra holds. */
interface KeptOrder {
  quantity: number;
  extra: string | null;
}

export function parseExtra(extra: string): OrderExtra {
  return JSON.parse(extra) as OrderExtra;
}

/**
 * What is left of it when the user's personal data is erased: the type, numbers, and how many lines there were, since that is
 * what was charged. A trigger allows exactly this: migrations/.
 */
export function erasedExtra(extra: string): string {
  const left = Object.entries(parseExtra(extra)).map(([field, value]) => {
    const stays = field === "type" || value === "" || typeof value === "number";
    return [field, stays ? value : Array(countLines(value)).fill(ERASED).join("\n")];
  });
  return JSON.stringify(Object.fromEntries(left));
}

/** The quantity as it was ordered: of a drip-feed, of one run. */
export function orderedQuantity({ quantity, extra }: KeptOrder): number {
  if (extra === null) return quantity;
  const { runs = 1 } = parseExtra(extra);
  return quantity / Number(runs);
}

/** The extra fields by name. */
export function extraFields({ extra }: Pick<KeptOrder, "extra">): Omit<OrderExtra, "type"> {
  if (extra === null) return {};
  const { type: _, ...fields } = parseExtra(extra);
  return fields;
}

/** The type that the order was sold as. */
export function orderType({ extra }: Pick<KeptOrder, "extra">): ServiceType {
  return extra === null ? "default" : parseExtra(extra).type;
}

/** The quantity and the extra fields as the protocol of providers has them, all of them text. */
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

/** What is wrong with a kept extra beside its order's quantity; null when nothing is. */
export function extraProblem({ quantity, extra }: KeptOrder): string | null {
  if (extra === null) return null;
  const kept = parseExtra(extra);
  const { quantity: source } = typeTerms(kept.type);
  if (!Number.isInteger(orderedQuantity({ quantity, extra }))) {
    return `quantity is ${quantity}, which ${kept.runs} runs do not make`;
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
