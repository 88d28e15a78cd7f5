// Parses the replies of an "API v2" by schemas. Numbers may be numbers or text. Nothing is guessed: if an order's entry
// does not match, its status is null; if a service's entry does not match, it is listed as unreadable.

import * as v from "valibot";
import type { UpstreamEntry, UpstreamService } from "../domain/providers/upstream-services.ts";
import { parseDecimal } from "../domain/providers/rate-decimals.ts";
import {
  decimalText,
  microsOf,
  parseCurrency,
  type ReportedCost,
} from "../domain/delivery/costs.ts";
import { LongNumber } from "../domain/values/json-numbers.ts";
import { isProviderOrder, type SubmissionResult } from "../domain/delivery/deliveries.ts";
import { parseServiceType } from "../domain/catalogue/service-types.ts";
import { isIdentifier } from "../domain/values/text.ts";
import type { Report } from "../domain/delivery/polling.ts";
import {
  CATEGORY_LENGTH_LIMIT,
  DEFAULT_CATEGORY,
  SERVICE_NAME_LENGTH_LIMIT,
} from "../domain/catalogue/services.ts";
import type { Mask } from "./mask.ts";
import { mapInSlices, numberText, type Turn } from "./reply-json.ts";
import { type ProviderBalance, ProviderFailure, type StatusReply } from "./provider.ts";

/**
 * Errors about a lack of funds, matched after punctuation became spaces: some panels reply with
 * `neworder.error.not_enough_funds`.
 */
const OUT_OF_FUNDS = /not enough (funds|balance|money)|insufficient (funds|balance)|low balance/;
/** Maximum length of a status. A longer one is ignored. */
export const WORD_LIMIT = 64;
/** Statuses that panels use for a refused poll, and also for a failed order. */
const FAILURE = /^(error|fail|failed)$/i;
/** Errors about an unknown order: `Incorrect order ID`, `Order not found`, `order doesn't exist`. */
const NO_SUCH_ORDER = /\border|\bnot? (be )?found|\bno such|exist/i;
/**
 * The errors of NO_SUCH_ORDER that can mean nothing else, after punctuation became spaces:
 * `orders.error.incorrect_order_id`.
 */
const NO_ORDER =
  /(incorrect|invalid|wrong|unknown|no such|not found|nonexistent)( \w+)? order|order( \w+){0,3} (not found|incorrect|invalid|unknown|not exist|nonexistent)/;
/** Errors that say nothing about an order, although they name orders. */
const NO_ANSWER = /too many|too fast|limit|later|again|wait|tempor|unavailable|mainten|key|access/;
const WHOLE = /^\d{1,15}$/;

const numberOrText = v.union([v.string(), v.number(), v.instance(LongNumber)]);
const submissionReply = v.object({
  order: v.optional(v.unknown()),
  error: v.optional(v.unknown()),
});
const errorReply = v.object({ error: v.pipe(v.string(), v.trim(), v.nonEmpty()) });
const statusEntry = v.object({
  status: v.string(),
  start_count: v.optional(v.unknown()),
  remains: v.optional(v.unknown()),
  charge: v.optional(v.unknown()),
  currency: v.optional(v.unknown()),
});
const funds = v.object({ balance: numberOrText, currency: v.optional(v.unknown()) });
const identifiedService = v.object({ service: numberOrText });
const listedService = v.object({
  name: v.string(),
  type: v.string(),
  category: v.optional(v.unknown()),
  dripfeed: v.optional(v.unknown()),
  cancel: v.optional(v.unknown()),
  refill: v.optional(v.unknown()),
});
const listedTerms = v.object({ rate: numberOrText, min: numberOrText, max: numberOrText });

/** Reads the reply to a submission: docs/specification/delivery.md#delivery-outcomes. */
export function readSubmission(json: unknown, status: number, mask: Mask): SubmissionResult {
  const unknown = (why: string): SubmissionResult => {
    return { outcome: "unknown", cause: `${why}: ${textOf(json, mask)}` };
  };
  if (status >= 500) return unknown(`HTTP ${status}`);
  if (!isObject(json)) return unknown("a reply that is not an object");
  const { order = null, error = null } = v.parse(submissionReply, json);
  if (order !== null && error !== null) return unknown("both an order and an error");
  if (order !== null) {
    const text = numberText(order);
    if (!isProviderOrder(text)) return unknown("no order number");
    return { outcome: "accepted", providerOrder: text };
  }
  const refused = v.safeParse(errorReply, { error });
  if (!refused.success) return unknown("neither an order nor an error");
  const words = refused.output.error.toLowerCase().replace(/[^a-z]+/g, " ");
  return {
    outcome: "refused",
    cause: mask(refused.output.error),
    outOfFunds: OUT_OF_FUNDS.test(words),
  };
}

/** Reads the reply to a poll of one order. Some panels reply in the form for many orders. */
export function readOneReport(json: unknown, providerOrder: string, mask: Mask): StatusReply {
  const keyed = isObject(json) && Object.hasOwn(json, providerOrder);
  const found = keyed ? (json as Record<string, unknown>)[providerOrder] : json;
  if (keyed || (isObject(found) && Object.hasOwn(found, "status"))) {
    return { reports: new Map([[providerOrder, readReport(found, mask)]]) };
  }
  const error = readError(json);
  if (error === null) return { failed: `no status: ${textOf(json, mask)}`, answered: true };
  return { reports: new Map([[providerOrder, readReport({ error }, mask)]]) };
}

/** Reads the reply to a poll of many orders: an object keyed by order. A missing order gets a report that says so. */
export async function readManyReports(
  json: unknown,
  providerOrders: readonly string[],
  mask: Mask,
  turn: Turn,
): Promise<StatusReply> {
  if (!isObject(json) || !providerOrders.some((order) => Object.hasOwn(json, order))) {
    return { failed: `no statuses: ${textOf(json, mask)}`, answered: true };
  }
  const reports = await mapInSlices(providerOrders, turn, (order): [string, Report] => {
    const found = Object.hasOwn(json, order) ? json[order] : undefined;
    if (found !== undefined) return [order, readReport(found, mask)];
    const text = "missing from the provider's reply";
    return [order, { word: null, startCount: null, remains: null, text, isUnrecognized: true }];
  });
  return { reports: new Map(reports) };
}

/** Returns the text of an `error`, or null if the reply has none. */
export function readError(json: unknown): string | null {
  const parsed = v.safeParse(errorReply, json);
  return parsed.success ? parsed.output.error : null;
}

/** Reads a balance. Throws ProviderFailure if the reply contains no number. */
export function readBalance(json: unknown, mask: Mask): ProviderBalance {
  const parsed = v.safeParse(funds, json);
  const balance = parsed.success ? signedNumber(parsed.output.balance) : null;
  if (!parsed.success || balance === null) {
    throw new ProviderFailure(`the reply has no balance: ${textOf(json, mask)}`);
  }
  const { currency } = parsed.output;
  const isCurrency =
    typeof currency === "string" && parseCurrency(currency) !== null && !holdsKey(currency, mask);
  return { balance, currency: isCurrency ? currency : "" };
}

/** Reads a list of services, including unreadable entries. Throws ProviderFailure if the reply is not a list. */
export async function readServices(
  json: unknown,
  mask: Mask,
  turn: Turn,
): Promise<UpstreamEntry[]> {
  if (!Array.isArray(json)) {
    throw new ProviderFailure(`the reply is not a list of services: ${textOf(json, mask)}`);
  }
  return mapInSlices(json, turn, (listed: unknown) => {
    const identified = v.safeParse(identifiedService, listed);
    const id = identified.success ? numberText(identified.output.service) : "";
    const isServiceId = isIdentifier(id) && !holdsKey(id, mask);
    const service = isServiceId ? readService(id, listed, mask) : null;
    return service ?? { service: mask(id) || null, unreadable: textOf(listed, mask) };
  });
}

function readService(service: string, listed: unknown, mask: Mask): UpstreamService | null {
  const named = v.safeParse(listedService, listed);
  if (!named.success) return null;
  const name = mask(named.output.name).slice(0, SERVICE_NAME_LENGTH_LIMIT).toWellFormed().trim();
  const category = categoryOf(named.output.category, mask);
  const type = mask(named.output.type);
  const flags = {
    dripfeed: isYes(named.output.dripfeed),
    cancel: isYes(named.output.cancel),
    refill: isYes(named.output.refill),
  };
  if (name === "") return null;
  // Other types are only counted and skipped, so their rate and limits do not matter.
  if (!parseServiceType(type)) {
    return { service, name, category, type, rate: "0", min: 0, max: 0, ...flags };
  }
  const terms = v.safeParse(listedTerms, listed);
  if (!terms.success) return null;
  const rate = numberText(terms.output.rate);
  const min = wholeNumber(terms.output.min);
  const max = wholeNumber(terms.output.max);
  if (!parseDecimal(rate) || min === null || max === null) return null;
  return { service, name, category, type, rate, min, max, ...flags };
}

/** Whether a flag is set: true, 1, "1" or "true". Anything else counts as not set. */
function isYes(value: unknown): boolean {
  return value === true || value === 1 || value === "1" || value === "true";
}

/** Returns the category, or the default one: some panels leave it out or send null. */
function categoryOf(category: unknown, mask: Mask): string {
  if (typeof category !== "string") return DEFAULT_CATEGORY;
  const text = mask(category).slice(0, CATEGORY_LENGTH_LIMIT).toWellFormed().trim();
  return text === "" ? DEFAULT_CATEGORY : text;
}

/** Reads one order's entry. The status is null unless the entry is an object with a text as `status`. */
function readReport(found: unknown, mask: Mask): Report {
  const parsed = v.safeParse(statusEntry, found);
  const text = textOf(found, mask);
  if (!parsed.success || isRefusal(found)) {
    const none = { word: null, startCount: null, remains: null, text };
    if (!isUnrecognized(found)) return none;
    return { ...none, isUnrecognized: true, ...(isDenied(found) ? { isDenied: true } : {}) };
  }
  const { status, start_count: startCount, remains, charge, currency } = parsed.output;
  const cost = reportedCost(charge, currency, mask);
  return {
    // A longer status is not cut, because a cut one may read as another status.
    word: status.length <= WORD_LIMIT ? status : null,
    startCount: wholeNumber(startCount),
    remains: wholeNumber(remains),
    ...(cost ? { cost } : {}),
    text,
  };
}

/** Returns the cost. Returns null if the charge is not a decimal number or is more than any order costs. */
function reportedCost(charge: unknown, currency: unknown, mask: Mask): ReportedCost | null {
  const amount = parseDecimal(numberText(charge));
  if (!amount || microsOf(amount, "1") === null) return null;
  const isGiven = typeof currency === "string" && !holdsKey(currency, mask);
  return { charge: decimalText(amount), currency: isGiven ? parseCurrency(currency.trim()) : null };
}

/** Whether an entry has an `error`, or a failure with a message: the poll was refused, the order did not fail. */
function isRefusal(found: unknown): boolean {
  if (!isObject(found)) return false;
  const { error = null, message = null, status } = found;
  return error !== null || (message !== null && FAILURE.test(String(status).trim()));
}

/** Whether an entry says that the order does not exist. Errors such as a wrong key or too many requests do not. */
function isUnrecognized(found: unknown): boolean {
  return errorTexts(found).some((text) => NO_SUCH_ORDER.test(text));
}

/** Whether an entry says in plain words that the order does not exist. */
function isDenied(found: unknown): boolean {
  const words = errorTexts(found).map((text) => text.toLowerCase().replace(/[^a-z]+/g, " "));
  return words.some((text) => NO_ORDER.test(text)) && !words.some((text) => NO_ANSWER.test(text));
}

function errorTexts(found: unknown): string[] {
  const { error, message } = isObject(found) ? found : { error: found, message: null };
  return [error, message].filter((text) => typeof text === "string");
}

/** Returns a whole number from 0, given as a number or as text. Returns null for anything else. */
function wholeNumber(value: unknown): number | null {
  const text = numberText(value);
  return WHOLE.test(text) ? Number(text) : null;
}

/** Returns the nearest double, which is exact enough: a balance is only shown and compared. Null if not a number. */
function signedNumber(value: unknown): number | null {
  const text = numberText(value);
  const decimal = parseDecimal(text.replace(/^-/, ""));
  return decimal ? Number(text) + 0 : null;
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Whether the text contains the key. An id with the key is refused, because masking would change it. */
function holdsKey(text: string, mask: Mask): boolean {
  return mask(text) !== text;
}

/** Returns the reply as text for the log. */
function textOf(json: unknown, mask: Mask): string {
  return mask(JSON.stringify(json) ?? "nothing");
}
