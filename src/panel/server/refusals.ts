// Maps each refusal to the message shown beside a field, and to the fields that may have caused it. Refusals that the
// API has too are in its words (http/server/errors.ts).

import { ALERT_ENDPOINTS_LIMIT } from "../../domain/webhooks/alert-endpoints.ts";
import type { PanelCode, Refusal, RefusalCode, Refusals } from "../../domain/values/refusals.ts";
import {
  AMOUNT_LIMIT_MICROS,
  BALANCE_LIMIT_MICROS,
  DEPOSIT_LIMIT_MICROS,
  formatMicros,
} from "../../domain/ledger/money.ts";
import { ROUTES_LIMIT } from "../../domain/catalogue/service-routes.ts";
import { EARLIER_SECRETS_LIMIT, WEBHOOKS_LIMIT } from "../../domain/webhooks/webhooks.ts";
import { counted, countedWrong } from "../../domain/values/text.ts";

interface Shown<Details> {
  message: (details: Details) => string;
  /** The fields that may have caused it. The message is shown beside the first that the form has. */
  fields: readonly string[];
  /** Set if what the request named does not exist: a page then responds 404. */
  isAbsence?: true;
}

const SHOWN: { [Code in PanelCode]: Shown<Refusals[Code]> } = {
  user_not_found: says("User not found", "username", "user", "reseller").absence(),
  username_taken: says("A user has that name already: case does not count", "username", "name"),
  parent_not_found: says("Parent not found", "parent"),
  parent_is_child: says("parent must be a reseller, not a child user", "parent"),
  child_cannot_hold_key: says("A child user cannot hold a key: its parent does", "username"),
  child_has_no_keys: says("A child user has no keys: deactivate its parent", "username"),
  user_inactive: says("User is inactive: activate it first", "username"),
  user_erased: says("The personal data of the user was erased: it stays inactive", "username"),
  user_active: says("The user is active: deactivate it first", "username"),
  user_has_open_orders: {
    message: ({ orders }) => `The user has ${orders} open orders: end them first`,
    fields: ["username"],
  },
  user_has_open_requests: {
    message: ({ requests }) =>
      `The user has ${requests} open requests to cancel or refill an order: end them first`,
    fields: ["username"],
  },
  child_cannot_hold_grant: says("A child user cannot hold a grant: its parent does", "username"),
  child_cannot_hold_webhook: says(
    "A child user cannot hold a webhook: its parent does",
    "username",
  ),
  webhook_not_found: says("Webhook not found", "webhook").absence(),
  webhooks_too_many: says(`A reseller has at most ${WEBHOOKS_LIMIT} webhooks`, "url"),
  webhook_secrets_too_many: says(
    `${EARLIER_SECRETS_LIMIT} earlier secrets still sign: wait until one has ended, or let the old ones sign no longer`,
    "grace",
  ),
  alert_endpoint_not_found: says("Alert endpoint not found", "endpoint").absence(),
  alert_endpoints_too_many: says(`There are at most ${ALERT_ENDPOINTS_LIMIT} endpoints`, "target"),
  delivery_not_found: says("Delivery not found", "delivery").absence(),
  api_key_inactive: says("API key is inactive", "key"),
  api_key_expired: says("API key has expired", "key"),
  key_replaced: says("The key was rotated already: rotate the one that took its place", "key"),
  key_cannot_recharge: says(
    "An order key cannot recharge: leave its limits empty",
    "recharge-limit",
  ),
  key_not_found: says("Key not found", "key").absence(),
  service_not_found: says("Service not found", "service", "id").absence(),
  service_id_taken: says("A service has that id already", "id"),
  service_bounds_crossed: {
    message: ({ min, max }) => `min would be ${min} and max ${max}: min must not be above max`,
    fields: ["min", "max"],
  },
  service_unit_unfit: {
    message: ({ type, per }) => `per must be ${per} for type ${type}`,
    fields: ["per"],
  },
  service_dripfeed_unfit: says(
    "dripfeed must be no unless the type is Default and the price per 1000 or 1",
    "dripfeed",
  ),
  import_id_taken: {
    message: ({ index }) => `Row ${index + 1}: id is taken by another service or an earlier row`,
    fields: ["csv", "file"],
  },
  import_provider_unknown: {
    message: ({ index }) => `Row ${index + 1}: no provider has that name`,
    fields: ["csv", "file"],
  },
  import_provider_inactive: {
    message: ({ index }) => `Row ${index + 1}: the provider is inactive`,
    fields: ["csv", "file"],
  },
  import_field_missing: {
    message: ({ index, field }) =>
      `Row ${index + 1}: ${field} is missing, and no service has the id`,
    fields: ["csv", "file"],
  },
  import_bounds_crossed: {
    message: ({ index }) => `Row ${index + 1}: min must not be above max`,
    fields: ["csv", "file"],
  },
  import_type_unfit: {
    message: ({ index }) => `Row ${index + 1}: per and dripfeed do not fit the service's type`,
    fields: ["csv", "file"],
  },
  grant_not_found: says("The user has no grant for the service", "username"),
  insufficient_balance: says("Insufficient balance", "amount"),
  balance_too_large: says(
    `amount must be small enough to keep the balance at or below ${formatMicros(BALANCE_LIMIT_MICROS)}`,
    "amount",
  ),
  deposits_too_large: says(
    `amount must be small enough to keep credits less debits at or below ${formatMicros(DEPOSIT_LIMIT_MICROS)}`,
    "amount",
  ),
  order_not_found: says("Order not found", "order").absence(),
  order_transition_illegal: {
    message: ({ from, to }) => `The order is ${from}, and ${from} cannot become ${to}`,
    fields: ["status"],
  },
  order_not_processing: {
    message: ({ status }) => `The order is ${status}: progress is noted on PROCESSING orders only`,
    fields: ["status"],
  },
  remains_above_quantity: {
    message: ({ quantity }) => `remains must be a whole number from 0 to ${quantity}`,
    fields: ["remains"],
  },
  order_being_sent: says("The order is being sent to its provider right now: try again"),
  request_not_found: says("Request not found", "request").absence(),
  request_being_sent: says("The request is being sent to its provider right now: try again"),
  request_not_open: says("That cannot be decided for the request as it stands"),
  order_changed: says("The order changed meanwhile: nothing was changed, look again"),
  order_not_unknown: {
    message: ({ status, placement }) =>
      `The order is ${status} and its placement ${placement}: only a PENDING one that is unknown can be settled, and its number corrected until its provider reports`,
    fields: ["settlement"],
  },
  adjustment_reference_taken: {
    message: ({ direction, amountMicros, seq }) =>
      `reference was used for a ${direction} of ${formatMicros(amountMicros)} USD: transaction ${seq}`,
    fields: ["reference"],
  },
  child_cannot_hold_discount: says("A child user orders nothing: its parent has the discount"),
  nothing_refunded: says("Nothing is refunded: nobody would be told this", "public-note"),
  late_report_absent: says("No late report waits for a decision"),
  late_report_inapplicable: {
    message: ({ status, reported }) =>
      `The order is ${status} and was reported ${reported}: nothing of that can be applied, dismiss it`,
    fields: ["decision"],
  },
  late_remains_missing: says("remains is required: it was not stored with this report", "remains"),
  grants_invalid: {
    message: ({ rows }) => countedWrong(rows.length),
    fields: ["csv"],
  },
  provider_not_found: says("Provider not found", "provider", "name").absence(),
  provider_name_taken: says("A provider has that name already: case does not count", "name"),
  provider_key_needed: says("A new address needs the key again: type it here", "key"),
  provider_order_taken: {
    message: ({ orderId }) => `Order ${orderId} has that number at this provider`,
    fields: ["provider-order"],
  },
  service_in_use: {
    message: ({ orders }) =>
      orders
        ? "The service has orders, which refer to it: deactivate it"
        : "Resellers have grants for the service: revoke them first",
    fields: [],
  },
  provider_inactive: says("The provider is inactive: activate it first", "provider"),
  provider_in_use: {
    message: ({ services, orders }) =>
      orders
        ? "The provider has orders, which refer to it: deactivate it"
        : `The provider delivers ${counted(services, "service")}: delete them or give them another`,
    fields: [],
  },
  provider_name_reserved: says("That name stands for no provider: choose another", "name"),
  markup_missing: says("A scheduled sync needs a markup: nobody is asked", "markup", "every"),
  service_has_no_provider: says("The service has no provider", "provider"),
  route_not_found: says("The service has no such route", "provider-service"),
  routes_too_many: says(`A service has at most ${ROUTES_LIMIT} routes`, "provider-service"),
  catalogue_changed: says("The catalogue changed meanwhile: nothing was changed, look again"),
  price_too_large: {
    message: ({ id }) =>
      `The price of service ${id} would pass ${formatMicros(AMOUNT_LIMIT_MICROS)} USD`,
    fields: ["percent"],
  },
  service_unavailable: says("Service temporarily unavailable"),
  administrator_not_found: says("Administrator not found", "name").absence(),
  administrator_name_taken: says("An administrator has that name already", "name"),
  administrator_last_owner: says("That is the last owner who is active: invite another first"),
  second_factor_absent: says("There is no second factor"),
  second_factor_present: says("There is a second factor already: remove it first"),
  sign_in_refused: says("Wrong name or password", "password", "proof"),
  sign_in_limited: {
    message: ({ retryAfterSeconds }) => `Too many failures: try again in ${retryAfterSeconds} s`,
    fields: [],
  },
  invitation_invalid: says("The link is used up or too old: ask for another", "token"),
  code_wrong: says("Wrong code", "code", "proof"),
  session_not_found: says("Session not found: it has ended already, or is another's"),
  owner_required: { message: ({ what }) => `Only an owner may ${what}`, fields: [] },
};

/** Returns the message for a refusal and the sent field to show it beside, or "" for no field. */
export function shownRefusal(
  { code, details }: Refusal,
  sent: { has(field: string): boolean },
): { message: string; field: string } {
  if (!isShown(code)) return { message: `Refused: ${code}`, field: "" };
  const { message, fields } = SHOWN[code] as Shown<unknown>;
  return { message: message(details), field: fields.find((field) => sent.has(field)) ?? "" };
}

export function isAbsence({ code }: Refusal): boolean {
  return isShown(code) && SHOWN[code].isAbsence === true;
}

function isShown(code: RefusalCode): code is PanelCode {
  return Object.hasOwn(SHOWN, code);
}

function says(message: string, ...fields: string[]) {
  const shown: Shown<unknown> = { message: () => message, fields };
  return { ...shown, absence: (): Shown<unknown> => ({ ...shown, isAbsence: true }) };
}
