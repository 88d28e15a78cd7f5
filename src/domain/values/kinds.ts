// The kinds of values that people and programs enter: the allowed form in words, and a function that reads the value.
// Request bodies, queries, forms, cells of files and flags use these kinds, so that all accept the same values.

import { ADMINISTRATOR_NAME_FORM, isAdministratorName } from "../administrators/administrators.ts";
import { parseDiscount } from "../catalogue/prices.ts";
import { PRIORITY_LIMIT } from "../catalogue/service-routes.ts";
import {
  CATEGORY_LENGTH_LIMIT,
  parsePercent,
  SERVICE_NAME_LENGTH_LIMIT,
} from "../catalogue/services.ts";
import {
  CURRENCY_FORM,
  parseCurrency,
  parseRateToUsd,
  RATE_TO_USD_FORM,
} from "../delivery/costs.ts";
import { isProviderOrder } from "../delivery/deliveries.ts";
import { NEARBY_LIMIT } from "../delivery/number-ranges.ts";
import {
  AMOUNT_LIMIT_MICROS,
  formatMicros,
  microsFromNumber,
  MICROS_PER_DOLLAR,
  parseMicros,
} from "../ledger/money.ts";
import { HOLD_LEAST_MS, HOLD_LIMIT_MS } from "../providers/fund-holds.ts";
import { PAUSE_FOR_LEAST_MS, PAUSE_FOR_LIMIT_MS } from "../providers/provider-pauses.ts";
import { REFILL_DAYS_LIMIT } from "../orders/order-requests.ts";
import {
  LINK_FORM,
  LINK_LENGTH_LIMIT,
  isOrderNumber,
  QUANTITY_LIMIT,
  REFERENCE_LENGTH_LIMIT,
} from "../orders/orders.ts";
import {
  isProviderUrl,
  MARKUP_FORM,
  parseMarkup,
  PROVIDER_URL_FORM,
  SYNC_EVERY_LEAST_MS,
} from "../providers/providers.ts";
import { KEY_LABEL_LENGTH_LIMIT } from "../users/keys.ts";
import {
  EMAIL_FORM,
  isEmail,
  isUsername,
  parseUserNote,
  USERNAME_FORM,
  USER_NAME_LENGTH_LIMIT,
  USER_NOTE_FORM,
} from "../users/users.ts";
import { SECRET_GRACE_LIMIT_SECONDS } from "../webhooks/webhooks.ts";
import { PAGE_LIMIT } from "./limits.ts";
import { DAY_MS } from "./spans.ts";
import { IDENTIFIER_FORM, isCuid, isIdentifier, isLabel, labelForm } from "./text.ts";
import { parseTime, TIME_FORM } from "./times.ts";
import { parseDuration, parseRate } from "./units.ts";

/** The value, or the form that it must have. */
export type Reading<Value> = { value: Value } | { must: string };

export interface Kind<Value> {
  /** The allowed form, which completes a sentence such as "name must be …". */
  form: string;
  /** Reads the text of a flag, a cell, a field of a form or a parameter. */
  read: (text: string) => Reading<Value>;
}

/** A kind that also reads values of request bodies. */
export interface JsonKind<Value> extends Kind<Value> {
  readJson: (given: unknown) => Reading<Value>;
}

function textKind<Value>(form: string, parse: (text: string) => Value | null): JsonKind<Value> {
  const read = (text: string): Reading<Value> => {
    const value = parse(text);
    return value === null ? { must: form } : { value };
  };
  const readJson = (given: unknown): Reading<Value> =>
    typeof given === "string" ? read(given) : { must: form };
  return { form, read, readJson };
}

function matching(form: string, isRight: (text: string) => boolean): JsonKind<string> {
  return textKind(form, (text) => (isRight(text) ? text : null));
}

export function oneOf<Word extends string>(words: readonly Word[]): JsonKind<Word> {
  const find = (text: string) => words.find((word) => word === text) ?? null;
  return textKind(`one of ${words.join(", ")}`, find);
}

/** Accepts 1 to `limit` characters on one line. */
export function label(limit: number): JsonKind<string> {
  return matching(labelForm(limit), (text) => isLabel(text, limit));
}

const WHOLE = /^(?:0|[1-9]\d{0,15})$/;

/**
 * Accepts a whole number. As text it has only digits and no leading zero. `broken`: the form to report for a number
 * with a fraction.
 */
export function whole(least: number, most: number, broken?: string): JsonKind<number> {
  const isUnlimited = most === Number.MAX_SAFE_INTEGER;
  const form = `a whole number from ${least}${isUnlimited ? "" : ` to ${most}`}`;
  const bounded = (value: number): Reading<number> =>
    // Adding 0 turns -0 into 0.
    value >= least && value <= most ? { value: value + 0 } : { must: form };
  return {
    form,
    read: (text) => bounded(WHOLE.test(text) ? Number(text) : Number.NaN),
    readJson: (given) =>
      Number.isInteger(given) ? bounded(given as number) : { must: broken ?? form },
  };
}

export const USERNAME = matching(USERNAME_FORM, isUsername);
export const USER_NAME = label(USER_NAME_LENGTH_LIMIT);
export const EMAIL = matching(EMAIL_FORM, isEmail);
/** The operator's notes about a user. */
export const USER_NOTE = textKind(USER_NOTE_FORM, parseUserNote);
export const ADMINISTRATOR_NAME = matching(ADMINISTRATOR_NAME_FORM, isAdministratorName);
export const KEY_LABEL = label(KEY_LABEL_LENGTH_LIMIT);
/** The id of a service or a key, the name of a provider, the author of a change, or a service's id at a provider. */
export const IDENTIFIER = matching(IDENTIFIER_FORM, isIdentifier);
export const SERVICE_NAME = label(SERVICE_NAME_LENGTH_LIMIT);
export const CATEGORY = label(CATEGORY_LENGTH_LIMIT);
export const NOTE = label(500);
export const REFERENCE = label(REFERENCE_LENGTH_LIMIT);
/** A part of a link to search for. */
export const LINK_PART = label(LINK_LENGTH_LIMIT);
/** A part of a name to search for. */
export const SEARCH = label(USER_NAME_LENGTH_LIMIT);

/** A link, trimmed. Refuses lone surrogates, which cannot be stored as UTF-8, instead of replacing them silently. */
export const LINK = textKind(LINK_FORM, (text) => {
  const link = text.trim();
  return isLabel(link, LINK_LENGTH_LIMIT) ? link : null;
});

export const PROVIDER_URL = matching(PROVIDER_URL_FORM, isProviderUrl);
/** The number of an order at a provider. */
export const PROVIDER_ORDER = matching("a positive whole number", isProviderOrder);
/** How many order numbers a search asks about for each unknown order. */
export const NEARBY = whole(1, NEARBY_LIMIT);
/** The value of one unit of a currency in US dollars, as decimal text. */
export const RATE_TO_USD = textKind(RATE_TO_USD_FORM, parseRateToUsd);
/** A currency, in upper case. */
export const CURRENCY = textKind(CURRENCY_FORM, parseCurrency);

/** The markup of a provider as decimal text, without the percent sign. */
export const MARKUP = textKind(MARKUP_FORM, parseMarkup);
/** The percentage of a price change, in millionths of a percent. */
export const PERCENT = textKind(
  "a percentage from -100 to 999999, such as 10 or -2.5",
  parsePercent,
);
/** A discount, in millionths of a price. */
export const DISCOUNT = textKind(
  "a percentage from 0 to 100 with at most four decimals, such as 10 or 12.5%",
  parseDiscount,
);

/** A rate of requests as text, such as 10/s; 0: no limit. */
export const RATE_LIMIT = textKind("a rate such as 100/s or 600/m, or 0", (text) =>
  text === "0" || parseRate(text) !== null ? text : null,
);
/** A limit for a number of orders; 0: no limit. */
export const ORDER_LIMIT = whole(0, 1_000_000);

/** A price in micros; 0 is a free service. */
export const PRICE = textKind(
  `a number from 0 to ${formatMicros(AMOUNT_LIMIT_MICROS)} with at most six decimals`,
  (text) => {
    const micros = parseMicros(text);
    return micros !== null && micros <= AMOUNT_LIMIT_MICROS ? micros : null;
  },
);

/** An amount of money above 0, in micros. Messages: docs/specification/endpoints.md#fields, `amount`. */
export const AMOUNT: JsonKind<number> = {
  form: `a positive number up to ${formatMicros(AMOUNT_LIMIT_MICROS)} with at most six decimals`,
  read: (text) =>
    readAmount(/^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN, () => parseMicros(text)),
  readJson(given) {
    const dollars = typeof given === "number" ? given : Number.NaN;
    return readAmount(dollars, () => microsFromNumber(dollars));
  },
};

function readAmount(dollars: number, exact: () => number | null): Reading<number> {
  if (!(dollars > 0) || dollars === Infinity) return { must: "a positive number" };
  const most = AMOUNT_LIMIT_MICROS / MICROS_PER_DOLLAR;
  if (dollars > most) return { must: `at most ${most}` };
  const value = exact();
  return value === null ? { must: "a number with at most six decimals" } : { value };
}

export const QUANTITY = whole(1, QUANTITY_LIMIT, "a whole number");
/** A count from 0, such as `remains` or a start count. */
export const COUNT = whole(0, Number.MAX_SAFE_INTEGER);
export const REFILL_DAYS = whole(1, REFILL_DAYS_LIMIT);
export const PRIORITY = whole(0, PRIORITY_LIMIT);
/** The number of an existing order. */
export const ORDER_NUMBER = textKind("an order number", (text) =>
  isOrderNumber(text) ? Number(text) : null,
);
/** The first number of new orders or rows. The limit leaves enough numbers below the largest safe integer. */
export const FIRST_NUMBER = whole(1, 10 ** 15);
/** The number of rows on a page of the API. */
export const PAGE_SIZE = whole(1, PAGE_LIMIT);
/** How long an earlier secret of a webhook still signs, in seconds. */
export const GRACE_SECONDS = whole(0, SECRET_GRACE_LIMIT_SECONDS);
/** The number of rows in a list on the command line. */
export const LIST_SIZE = whole(1, Number.MAX_SAFE_INTEGER);

export const ORDER_IDS: Kind<string[]> = textKind(
  "order numbers or ids, separated by commas",
  (text) => {
    const ids = text.split(",").map((id) => id.trim());
    return ids.every((id) => isOrderNumber(id) || isCuid(id)) ? ids : null;
  },
);

/** Limit for durations: a hundred years. Settings have lower limits of their own. */
const DURATION_LIMIT_MS = 36_525 * DAY_MS;

/** Accepts a duration. Its value is in milliseconds. */
export function duration(form: string, leastMs: number, mostMs = DURATION_LIMIT_MS): Kind<number> {
  return textKind(form, (text) => {
    const value = parseDuration(text);
    return value !== null && value >= leastMs && value <= mostMs ? value : null;
  });
}

export const DURATION = duration("a duration such as 10s, 24h or 90d", 0);
export const LIFETIME = duration("a duration above 0 such as 24h or 90d", 1);
/** The time after which a provider's pause ends by itself. */
export const PAUSE_FOR = duration(
  "a duration from 1m to 30d, such as 2h",
  PAUSE_FOR_LEAST_MS,
  PAUSE_FOR_LIMIT_MS,
);
/** How long an order waits until its provider has funds. */
export const HOLD_FOR = duration(
  "a duration from 1h to 30d, such as 24h",
  HOLD_LEAST_MS,
  HOLD_LIMIT_MS,
);
/** The time between scheduled syncs. */
export const SYNC_EVERY = duration("a duration of at least 1m, such as 6h", SYNC_EVERY_LEAST_MS);

/** A date or a time in milliseconds since 1970. A date means its first millisecond, for TIME_TO_END its last. */
export const TIME = textKind(TIME_FORM, (text) => parseTime(text, 0));
export const TIME_TO_END = textKind(TIME_FORM, (text) => parseTime(text, DAY_MS - 1));
