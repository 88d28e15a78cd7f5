// The part of Stripe's API that the Stripe method uses, and its neighbours: https://docs.stripe.com/api.

import type { Stripe } from "stripe";
import * as v from "valibot";
import type { Account } from "./account.ts";
import { requireAmount } from "./currencies.ts";
import { ApiError, invalid, missing } from "./errors.ts";
import { integer, type Param, readParams } from "./form.ts";

const METADATA_LIMIT = { keys: 50, key: 40, value: 500 };
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
/** Clocks of the two sides may differ so much before a time of expiry is refused. */
const LENIENCE_S = 2;
const EXPAND_LIMIT = 4;
const URL_LIMIT = 5000;
const SESSIONS = "/v1/checkout/sessions";

const url = v.pipe(v.string(), v.maxLength(URL_LIMIT));
const expand = v.optional(v.array(v.string()));
const metadata = v.optional(v.record(v.string(), v.string()), {});
const onOff = v.picklist(["true", "false"]);
const LOCALES = ["auto", "en", "es", "es-419", "pt", "pt-BR", "tr", "ru"];

const CREATE = v.strictObject({
  mode: v.picklist(["payment", "setup", "subscription"]),
  line_items: v.pipe(
    v.array(
      v.strictObject({
        quantity: integer,
        price_data: v.strictObject({
          currency: v.string(),
          unit_amount: integer,
          product_data: v.strictObject({
            name: v.pipe(v.string(), v.nonEmpty("You passed an empty string")),
            description: v.optional(v.string()),
          }),
        }),
      }),
    ),
    v.minLength(1),
  ),
  success_url: url,
  cancel_url: v.optional(url),
  client_reference_id: v.optional(v.pipe(v.string(), v.maxLength(200))),
  customer_email: v.optional(v.pipe(v.string(), v.email())),
  metadata,
  payment_intent_data: v.optional(
    v.strictObject({ metadata, description: v.optional(v.string()) }),
    {},
  ),
  expires_at: v.optional(integer),
  locale: v.optional(v.picklist(LOCALES)),
  submit_type: v.optional(v.picklist(["auto", "book", "donate", "pay"])),
  adaptive_pricing: v.optional(v.strictObject({ enabled: onOff })),
  automatic_tax: v.optional(v.strictObject({ enabled: onOff })),
  allow_promotion_codes: v.optional(onOff),
  expand,
});

const RETRIEVE = v.strictObject({ expand });

const LIST = v.strictObject({
  payment_intent: v.optional(v.string()),
  charge: v.optional(v.string()),
  limit: v.optional(integer, "10"),
  starting_after: v.optional(v.string()),
  expand,
});

export interface ApiRequest {
  method: string;
  path: string;
  params: Param;
  /** In seconds. */
  now: number;
  origin: string;
}

/** Answers a request. Throws ApiError. */
export function answer(account: Account, request: ApiRequest): object {
  const { method, path, params } = request;
  const [, id, action] = /^\/v1\/checkout\/sessions\/([^/]+)(\/expire)?$/.exec(path) ?? [];
  if (method === "POST" && path === SESSIONS) return create(account, request);
  if (method === "GET" && path === SESSIONS)
    return list(path, [...account.sessions.values()], params);
  if (method === "GET" && id !== undefined && !action) {
    const { expand: paths = [] } = readParams(RETRIEVE, params);
    return expanded(account, { ...account.session(id) }, paths);
  }
  if (method === "POST" && id !== undefined && action) {
    readParams(RETRIEVE, params);
    return { ...account.expire(id) };
  }
  if (method === "GET" && path === "/v1/refunds")
    return list(path, [...account.refunds.values()], params);
  if (method === "GET" && path === "/v1/disputes")
    return list(path, [...account.disputes.values()], params);
  const [, intent] = /^\/v1\/payment_intents\/([^/]+)$/.exec(path) ?? [];
  if (method === "GET" && intent !== undefined) {
    const { expand: paths = [] } = readParams(RETRIEVE, params);
    const found = account.intents.get(intent);
    if (!found) throw missing("payment_intent", intent, "intent");
    return expanded(account, { ...found }, paths);
  }
  throw new ApiError(
    404,
    "invalid_request_error",
    `Unrecognized request URL (${method}: ${path}). If you are trying to list objects, remove the trailing slash.`,
  );
}

function create(account: Account, { params, now, origin }: ApiRequest): object {
  const read = readParams(CREATE, params);
  if (read.mode !== "payment")
    throw invalid("parameter_unknown", "Only payments are tested", "mode");
  const [{ quantity, price_data }] = read.line_items as [(typeof read.line_items)[0]];
  const currency = price_data.currency.toLowerCase();
  if (currency !== price_data.currency)
    throw invalid(
      "parameter_invalid_string",
      `Invalid currency: ${price_data.currency}. Use lower case`,
      "line_items[0][price_data][currency]",
    );
  const amount = read.line_items.reduce(
    (sum, line) => sum + line.quantity * line.price_data.unit_amount,
    0,
  );
  if (quantity < 1)
    throw invalid(
      "parameter_invalid_integer",
      "This value must be greater than or equal to 1.",
      "line_items[0][quantity]",
    );
  requireAmount(amount, currency);
  for (const [name, address] of [
    ["success_url", read.success_url],
    ["cancel_url", read.cancel_url],
  ] as const) {
    if (address !== undefined && !/^https?:\/\/[^\s/]+/.test(address))
      throw invalid("url_invalid", "Not a valid URL", name);
  }
  requireMetadata(read.metadata, "metadata");
  requireMetadata(read.payment_intent_data.metadata ?? {}, "payment_intent_data[metadata]");
  if (read.expires_at !== undefined) {
    const after = read.expires_at - now;
    if (after < 30 * MINUTE_S - LENIENCE_S)
      throw invalid(
        "parameter_invalid_integer",
        "The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.",
        "expires_at",
      );
    if (after > 24 * HOUR_S + LENIENCE_S)
      throw invalid(
        "parameter_invalid_integer",
        "The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.",
        "expires_at",
      );
  }
  return account.create(
    {
      amount,
      currency,
      expiresAt: read.expires_at,
      clientReferenceId: read.client_reference_id,
      metadata: read.metadata,
      intentMetadata: read.payment_intent_data.metadata ?? {},
      locale: read.locale,
      customerEmail: read.customer_email,
      successUrl: read.success_url,
      cancelUrl: read.cancel_url,
    },
    origin,
  );
}

function requireMetadata(given: Record<string, string>, param: string): void {
  const entries = Object.entries(given);
  const isLong = ([key, value]: [string, string]) =>
    key.length > METADATA_LIMIT.key || value.length > METADATA_LIMIT.value;
  if (entries.length > METADATA_LIMIT.keys || entries.some(isLong))
    throw invalid("parameter_invalid_string_too_long", "Metadata is too long", param);
}

/** Replaces ids by objects: https://docs.stripe.com/expand. */
function expanded(account: Account, object: object, paths: readonly string[]): object {
  for (const path of paths) {
    const names = path.split(".");
    if (names.length > EXPAND_LIMIT)
      throw invalid(
        "property_expansion_max_depth",
        `You cannot expand more than ${EXPAND_LIMIT} levels of a property.`,
        "expand",
      );
    let at = object as Record<string, unknown>;
    for (const name of names) {
      if (!(name in at))
        throw invalid("parameter_unknown", `This property cannot be expanded (${path}).`, "expand");
      const value = at[name];
      if (value === null) break;
      if (typeof value === "string") at[name] = { ...objectOf(account, name, value) };
      at = at[name] as Record<string, unknown>;
    }
  }
  return object;
}

function objectOf(account: Account, name: string, id: string): object {
  const found = name === "payment_intent" ? account.intents.get(id) : account.charges.get(id);
  if (!found)
    throw invalid("parameter_unknown", `This property cannot be expanded (${name}).`, "expand");
  return found;
}

type Listed = Stripe.Checkout.Session | Stripe.Refund | Stripe.Dispute;

/** A page of a list, the newest first: https://docs.stripe.com/api/pagination. */
function list(path: string, all: readonly Listed[], params: Param): object {
  const { payment_intent, charge, limit, starting_after } = readParams(LIST, params);
  if (limit < 1 || limit > 100)
    throw invalid("parameter_invalid_integer", "Limit can range between 1 and 100", "limit");
  const found = all
    .filter((each) => payment_intent === undefined || each.payment_intent === payment_intent)
    .filter((each) => charge === undefined || ("charge" in each && each.charge === charge))
    .toReversed();
  const from =
    starting_after === undefined ? 0 : found.findIndex(({ id }) => id === starting_after) + 1;
  if (starting_after !== undefined && from === 0)
    throw missing("object", starting_after, "starting_after");
  const data = found.slice(from, from + limit);
  return { object: "list", data, has_more: from + limit < found.length, url: path };
}
