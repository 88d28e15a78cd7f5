// Parses and checks values on the command line without the database (docs/specification/command-line.md#cli-values).
// A wrong value is exit 2.

import { InvalidArgumentError } from "commander";
import { formatNetwork, parseNetwork } from "../../config/networks.ts";
import {
  ADMINISTRATOR_NAME_FORM,
  isAdministratorName,
} from "../../domain/administrators/administrators.ts";
import { KEY_LABEL_LENGTH_LIMIT, KEY_NETWORKS_LIMIT } from "../../domain/users/keys.ts";
import {
  AMOUNT_LIMIT_MICROS,
  formatMicros,
  MICROS_PER_DOLLAR,
  parseMicros,
} from "../../domain/ledger/money.ts";
import { parseDiscount } from "../../domain/catalogue/prices.ts";
import { CUID, NUMERIC_ID } from "../../db/orders/orders.ts";
import {
  isReference,
  LINK_LENGTH_LIMIT,
  QUANTITY_LIMIT,
  REFERENCE_FORM,
} from "../../domain/orders/orders.ts";
import {
  CURRENCY_FORM,
  parseCurrency,
  parseRateToUsd,
  RATE_TO_USD_FORM,
} from "../../domain/delivery/costs.ts";
import { isProviderOrder } from "../../domain/delivery/deliveries.ts";
import { isRefillDays, REFILL_DAYS_LIMIT } from "../../domain/orders/order-requests.ts";
import {
  isProviderUrl,
  parseMarkup,
  SYNC_EVERY_LEAST_MS,
} from "../../domain/providers/providers.ts";
import { PRIORITY_LIMIT } from "../../domain/catalogue/service-routes.ts";
import {
  CATEGORY_LENGTH_LIMIT,
  isQuantity,
  parsePercent,
  SERVICE_NAME_LENGTH_LIMIT,
} from "../../domain/catalogue/services.ts";
import { IDENTIFIER_FORM, isIdentifier, isLabel } from "../../domain/values/text.ts";
import { parseDuration } from "../../domain/values/units.ts";
import { isUsername, USERNAME_FORM, USER_NAME_LENGTH_LIMIT } from "../../domain/users/users.ts";
import { DAY_MS } from "../../domain/values/spans.ts";

const NOTE_LENGTH_LIMIT = 500;
const LIST_LIMIT = Number.MAX_SAFE_INTEGER;
const ORDER_NUMBER_LIMIT = 10 ** 15;
/** A hundred years, in milliseconds. */
const DURATION_LIMIT = 36_525 * DAY_MS;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

export function username(text: string): string {
  return require(isUsername(text), text, `must be ${USERNAME_FORM}`);
}

export function administratorName(text: string): string {
  return require(isAdministratorName(text), text, `must be ${ADMINISTRATOR_NAME_FORM}`);
}

export const userDisplayName = label(USER_NAME_LENGTH_LIMIT);
export const serviceName = label(SERVICE_NAME_LENGTH_LIMIT);
export const category = label(CATEGORY_LENGTH_LIMIT);
export const keyLabel = label(KEY_LABEL_LENGTH_LIMIT);
export const note = label(NOTE_LENGTH_LIMIT);

export const serviceId = identifier;
export const keyId = identifier;
export const providerName = identifier;
export const providerService = identifier;
export const authorName = identifier;

function identifier(text: string): string {
  return require(isIdentifier(text), text, `must be ${IDENTIFIER_FORM}`);
}

export function providerUrl(text: string): string {
  return require(isProviderUrl(
    text,
  ), text, "must be an http or https address without a user name or password");
}

/** Parses a provider's number of an order. */
export function providerOrder(text: string): string {
  return require(isProviderOrder(text), text, "must be a positive whole number");
}

/** Parses the value of one unit of a currency in US dollars. Returns its decimal text. */
export function rateToUsd(text: string): string {
  const rate = parseRateToUsd(text);
  return require(rate !== null, rate ?? "", `must be ${RATE_TO_USD_FORM}`);
}

/** Parses a currency code. Returns it in upper case. */
export function currency(text: string): string {
  const code = parseCurrency(text);
  return require(code !== null, code ?? "", `must be ${CURRENCY_FORM}`);
}

/** Parses a percentage such as `30%` or `12.5%`. Returns its decimal text. */
export function markup(text: string): string {
  const percent = parseMarkup(text);
  return require(percent !== null, percent ??
    "", "must be a percentage from 0% to 999999%, such as 30%");
}

/**
 * Parses the interval of scheduled syncs into milliseconds. Returns 0 for `off`, because an option's value is never
 * null.
 */
export function syncEvery(text: string): number {
  if (text === "off") return 0;
  const value = duration(text);
  return require(value >= SYNC_EVERY_LEAST_MS, value, "must be at least 1m, or off");
}

/** Parses service ids at a provider, separated by commas. The option may be repeated. */
export function providerServices(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(",").map((id) => providerService(id.trim()))];
}

/** Parses a percentage by which prices change, in millionths of a percent. */
export function percent(text: string): bigint {
  const value = parsePercent(text);
  return require(value !== null, value ??
    0n, "must be a percentage from -100 to 999999, such as 10 or -2.5");
}

/** Parses an amount to credit or debit, in micros. */
export function amount(text: string): number {
  const micros = parseMicros(text);
  if (isAboveLimit(text, micros)) {
    const most = formatMicros(AMOUNT_LIMIT_MICROS);
    throw new InvalidArgumentError(`must be at most ${most}, the limit of one credit or debit.`);
  }
  if (micros === null || micros === 0) {
    throw new InvalidArgumentError("must be a positive number with at most six decimals.");
  }
  return micros;
}

/** Parses a price in micros; 0 is a free service. */
export function price(text: string): number {
  const micros = parseMicros(text);
  if (isAboveLimit(text, micros)) {
    const most = formatMicros(AMOUNT_LIMIT_MICROS);
    throw new InvalidArgumentError(`must be at most ${most}, the limit of a price.`);
  }
  if (micros === null) {
    throw new InvalidArgumentError(
      `must be a number from 0 to ${formatMicros(AMOUNT_LIMIT_MICROS)} with at most six decimals.`,
    );
  }
  return micros;
}

/** Returns whether an amount is too large, also for a number too long to parse: the message then names the limit. */
function isAboveLimit(text: string, micros: number | null): boolean {
  if (micros !== null) return micros > AMOUNT_LIMIT_MICROS;
  return /^\d+(\.\d{1,6})?$/.test(text) && Number(text) > AMOUNT_LIMIT_MICROS / MICROS_PER_DOLLAR;
}

/** Parses a discount such as `10%` or `12.5` into millionths of a price. */
export function discount(text: string): number {
  const ppm = parseDiscount(text);
  return require(ppm !== null, ppm ??
    0, "must be a percentage from 0 to 100 with at most four decimals, such as 10 or 12.5%");
}

/** Parses a `min` or `max` of a service. */
export function quantity(text: string): number {
  const value = wholeNumber(text);
  return require(isQuantity(value), value, `must be a whole number from 1 to ${QUANTITY_LIMIT}`);
}

export function refillDays(text: string): number {
  const value = wholeNumber(text);
  return require(isRefillDays(
    value,
  ), value, `must be a whole number from 1 to ${REFILL_DAYS_LIMIT}`);
}

/** Parses a duration such as `90d`, `24h` or 0 into milliseconds. */
export function duration(text: string): number {
  const value = parseDuration(text) ?? Number.NaN;
  return require(value <= DURATION_LIMIT, value, "must be a duration such as 10s, 24h or 90d");
}

/** Parses a duration above 0 into milliseconds. */
export function lifetime(text: string): number {
  const value = duration(text);
  return require(value > 0, value, "must be above 0");
}

/** Parses networks in CIDR notation, separated by commas. Returns each in its canonical form. */
export function networks(text: string, before = ""): string {
  const added = text.split(",").map((part) => parseNetwork(part.trim()));
  const valid = added.every((network) => network !== null);
  require(valid, added, "must be networks such as 10.0.0.0/8 or 2001:db8::/32");
  const all = before === "" ? [] : before.split(",");
  const list = [...new Set([...all, ...added.map((network) => formatNetwork(network!))])];
  return require(list.length <=
    KEY_NETWORKS_LIMIT, list, `at most ${KEY_NETWORKS_LIMIT} networks`).join(",");
}

/** Parses a date, a date with a time in ISO 8601, or a duration before now. Returns milliseconds since 1970. */
export function since(text: string): number {
  const ago = parseDuration(text);
  if (ago !== null) return Date.now() - ago;
  const moment = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return require(Number.isFinite(
    moment,
  ), moment, "must be a date such as 2026-11-21, a time such as 2026-11-21T10:00:00Z, or a duration such as 24h");
}

/** Parses the end of a time window like `since`; a date means its last millisecond. */
export function until(text: string): number {
  const at = since(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? at + DAY_MS - 1 : at;
}

/** Parses order numbers and ids, separated by commas. The option may be repeated. */
export function orderIds(text: string, before: readonly string[] = []): string[] {
  const ids = [...before, ...text.split(",").map((id) => id.trim())];
  const valid = ids.every((id) => NUMERIC_ID.test(id) || CUID.test(id));
  return require(valid, ids, "must be order numbers or ids, separated by commas");
}

/** Parses the caller's own reference. */
export function reference(text: string): string {
  return require(isReference(text), text, `must be ${REFERENCE_FORM}`);
}

export const linkPart = label(LINK_LENGTH_LIMIT);
export const searchText = label(USER_NAME_LENGTH_LIMIT);

/** Parses a whole number from 0, such as `remains` or a start count. */
export function count(text: string): number {
  const value = wholeNumber(text);
  return require(value <= Number.MAX_SAFE_INTEGER, value, "must be a whole number from 0");
}

/** Parses the number of the next order. The limit leaves enough numbers below the largest safe integer. */
export function orderNumber(text: string): number {
  const value = wholeNumber(text);
  return require(value >= 1 &&
    value <= ORDER_NUMBER_LIMIT, value, `must be a whole number from 1 to ${ORDER_NUMBER_LIMIT}`);
}

/** Parses the priority of a route. */
export function priority(text: string): number {
  const value = wholeNumber(text);
  return require(value <=
    PRIORITY_LIMIT, value, `must be a whole number from 0 to ${PRIORITY_LIMIT}`);
}

/** Parses the maximum number of rows to list. */
export function limit(text: string): number {
  const value = wholeNumber(text);
  return require(value >= 1 && value <= LIST_LIMIT, value, "must be a whole number from 1");
}

function label(length: number): (text: string) => string {
  return (text) =>
    require(isLabel(
      text,
      length,
    ), text, `must be 1 to ${length} characters without control characters, leading or trailing spaces`);
}

/** Parses digits; returns NaN for any other text. */
function wholeNumber(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

function require<T>(valid: boolean, value: T, must: string): T {
  if (!valid) throw new InvalidArgumentError(`${must}.`);
  return value;
}
