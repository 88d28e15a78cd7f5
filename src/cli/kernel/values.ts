// Parsers of flags and arguments: the kinds of domain/values/kinds.ts (docs/specification/command-line.md#cli-values).
// A wrong value ends the command with exit 2, before the database is opened.

import { InvalidArgumentError } from "commander";
import { KEY_NETWORKS } from "../../config/networks.ts";
import * as kinds from "../../domain/values/kinds.ts";
import { parseDuration } from "../../domain/values/units.ts";

/** Returns the parser of a flag. */
export function checked<Value>({ read }: kinds.Kind<Value>): (text: string) => Value {
  return (text) => {
    const found = read(text);
    if ("must" in found) throw new InvalidArgumentError(`must be ${found.must}.`);
    return found.value;
  };
}

export const username = checked(kinds.USERNAME);
export const userDisplayName = checked(kinds.USER_NAME);
export const email = checked(kinds.EMAIL);
export const userNote = checked(kinds.USER_NOTE);
export const administratorName = checked(kinds.ADMINISTRATOR_NAME);
export const keyLabel = checked(kinds.KEY_LABEL);
export const keyId = checked(kinds.IDENTIFIER);
export const serviceId = checked(kinds.IDENTIFIER);
export const serviceName = checked(kinds.SERVICE_NAME);
export const category = checked(kinds.CATEGORY);
export const providerName = checked(kinds.IDENTIFIER);
export const providerService = checked(kinds.IDENTIFIER);
export const providerUrl = checked(kinds.PROVIDER_URL);
export const providerOrder = checked(kinds.PROVIDER_ORDER);
export const nearbyNumbers = checked(kinds.NEARBY);
export const authorName = checked(kinds.IDENTIFIER);
export const note = checked(kinds.NOTE);
export const reference = checked(kinds.REFERENCE);
export const link = checked(kinds.LINK);
export const linkPart = checked(kinds.LINK_PART);
export const searchText = checked(kinds.SEARCH);
export const rateToUsd = checked(kinds.RATE_TO_USD);
export const currency = checked(kinds.CURRENCY);
export const markup = checked(kinds.MARKUP);
export const percent = checked(kinds.PERCENT);
export const discount = checked(kinds.DISCOUNT);
export const amount = checked(kinds.AMOUNT);
export const price = checked(kinds.PRICE);
export const quantity = checked(kinds.QUANTITY);
export const refillDays = checked(kinds.REFILL_DAYS);
export const count = checked(kinds.COUNT);
export const priority = checked(kinds.PRIORITY);
export const limit = checked(kinds.LIST_SIZE);
export const orderNumber = checked(kinds.ORDER_NUMBER);
export const firstNumber = checked(kinds.FIRST_NUMBER);
export const duration = checked(kinds.DURATION);
export const holdFor = checked(kinds.HOLD_FOR);
export const pauseFor = checked(kinds.PAUSE_FOR);
export const lifetime = checked(kinds.LIFETIME);

/** The word for a limit that is the server's default. An option's value is never null. */
const DEFAULT = "default";

/** Returns the parser of a reseller's limit. */
function ownLimit<Value>(kind: kinds.Kind<Value>): (text: string) => Value | typeof DEFAULT {
  const parse = checked(kind);
  return (text) => (text === DEFAULT ? DEFAULT : parse(text));
}

export const ownRate = ownLimit(kinds.RATE_LIMIT);
export const ownOrderLimit = ownLimit(kinds.ORDER_LIMIT);
export const ownSpendLimit = ownLimit(kinds.PRICE);

const syncInterval = checked(kinds.SYNC_EVERY);

/**
 * Parses the interval of scheduled syncs into milliseconds. Returns 0 for `off`, because an option's value is never
 * null.
 */
export function syncEvery(text: string): number {
  return text === "off" ? 0 : syncInterval(text);
}

/** Parses service ids at a provider, separated by commas. The option may be repeated. */
export function providerServices(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(",").map((id) => providerService(id.trim()))];
}

const keyNetworks = checked(KEY_NETWORKS);

/** Parses networks in CIDR notation, separated by commas. The option may be repeated. Returns their canonical forms. */
export function networks(text: string, before = ""): string {
  return keyNetworks(before === "" ? text : `${before},${text}`);
}

const orderIdList = checked(kinds.ORDER_IDS);

/** Parses order numbers and ids, separated by commas. The option may be repeated. */
export function orderIds(text: string, before: readonly string[] = []): string[] {
  return [...before, ...orderIdList(text)];
}

/** Parses a date or a time; a date means its last millisecond. */
export const timeToEnd = checked(kinds.TIME_TO_END);

/** Parses the begin of a time window: a date, a time, or a duration before now. Returns milliseconds since 1970. */
export function since(text: string): number {
  return moment(text, kinds.TIME);
}

/** Parses the end of a time window like `since`; a date means its last millisecond. */
export function until(text: string): number {
  return moment(text, kinds.TIME_TO_END);
}

function moment(text: string, { form, read }: kinds.Kind<number>): number {
  const ago = parseDuration(text);
  if (ago !== null) return Date.now() - ago;
  const found = read(text);
  if ("value" in found) return found.value;
  throw new InvalidArgumentError(`must be ${form}, or a duration such as 24h.`);
}
