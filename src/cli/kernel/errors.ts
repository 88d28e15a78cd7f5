// Maps each refusal to a sentence for the operator: what is wrong and what to do.

import { ALERT_ENDPOINTS_LIMIT } from "../../domain/webhooks/alert-endpoints.ts";
import type {
  CommandLineCode,
  Refusal,
  RefusalCode,
  Refusals,
} from "../../domain/values/refusals.ts";
import {
  AMOUNT_LIMIT_MICROS,
  BALANCE_LIMIT_MICROS,
  DEPOSIT_LIMIT_MICROS,
  formatMicros,
} from "../../domain/ledger/money.ts";
import { ROUTES_LIMIT } from "../../domain/catalogue/service-routes.ts";
import { countedWrong } from "../../domain/values/text.ts";
import { EARLIER_SECRETS_LIMIT, WEBHOOKS_LIMIT } from "../../domain/webhooks/webhooks.ts";

const SENTENCES = {
  user_not_found: () => "no user has that name: see `reseller admin user list`",
  username_taken: () => "a user has that name already (case does not count): choose another",
  parent_not_found: () => "no user has the name given with --parent: create the reseller first",
  service_unavailable: () =>
    "the database took no writes (another process holds it, or its disk is full): see `reseller doctor`",
  parent_is_child: () =>
    "the user given with --parent is a child user itself: a parent must be a reseller",
  child_cannot_hold_key: () =>
    "that user is a child user: a key belongs to a reseller, create it for the parent",
  child_has_no_keys: () =>
    "that user is a child user and has no keys that could be refused: deactivate its parent",
  user_inactive: () =>
    "the user is inactive: activate it first with `reseller admin user activate`",
  user_erased: () => "the personal data of that user was erased: it stays inactive",
  user_active: () =>
    "the user is active: deactivate it first with `reseller admin user deactivate`",
  user_has_open_orders: ({ orders }) =>
    `the user has ${orders === 1 ? "an open order" : `${orders} open orders`}: end them first, see \`reseller admin order list --user\``,
  user_has_open_requests: ({ requests }) =>
    `the user has ${requests === 1 ? "an open request" : `${requests} open requests`} to cancel or refill an order: end them first, see \`reseller admin request list\``,
  child_cannot_hold_grant: () =>
    "that user is a child user: a grant is for a reseller, give it to the parent",
  child_cannot_hold_webhook: () =>
    "that user is a child user: a webhook belongs to a reseller, create it for the parent",
  webhook_not_found: () => "no webhook has that id: see `reseller admin webhook list`",
  webhooks_too_many: () =>
    `that reseller has ${WEBHOOKS_LIMIT} webhooks already: delete or change one of them`,
  webhook_secrets_too_many: () =>
    `${EARLIER_SECRETS_LIMIT} earlier secrets of that webhook still sign: wait until one has ended, or end all with --grace 0`,
  delivery_not_found: () =>
    "the webhook has no such delivery: see `reseller admin webhook deliveries`",
  api_key_inactive: () =>
    "the key is inactive: activate it first, or create another with `reseller admin key create`",
  api_key_expired: () => "the key has expired: create another with `reseller admin key create`",
  key_replaced: () =>
    "the key was rotated already: rotate the one that took its place, see `reseller admin key list`",
  key_cannot_recharge: () =>
    "the key cannot recharge, so it has no limits of recharges: leave out --recharge-limit and --recharge-daily",
  key_not_found: () => "no key has that id: see `reseller admin key list`",
  service_not_found: () => "no service has that id: see `reseller admin service list`",
  service_id_taken: () =>
    "a service has that id already: choose another, or use `reseller admin service update`",
  service_bounds_crossed: ({ min, max }) =>
    `min would be ${min} and max ${max}: min must not be above max`,
  service_unit_unfit: ({ type, per }) =>
    `a service of type ${type} is priced per ${per}: give --per accordingly`,
  service_dripfeed_unfit: () =>
    "only a service of type default that is priced per 1000 or 1 can have a drip-feed: give --no-dripfeed",
  import_id_taken: () => "id is taken by another service or an earlier row",
  import_provider_unknown: () => "no provider has that name",
  import_provider_inactive: () => "the provider is inactive",
  import_field_missing: ({ field }) =>
    `${field} is missing, and no service has the id: a new one needs it`,
  import_bounds_crossed: () => "min must not be above max",
  import_type_unfit: () => "per and dripfeed do not fit the service's type",
  grant_not_found: () => "that user has no grant for the service: nothing to revoke",
  insufficient_balance: () =>
    "the balance is lower than the amount: see it with `reseller admin user show`",
  balance_too_large: () =>
    `the balance would pass ${formatMicros(BALANCE_LIMIT_MICROS)} USD: credit less`,
  deposits_too_large: () =>
    `credits less debits would pass ${formatMicros(DEPOSIT_LIMIT_MICROS)} USD: credit less, or use another account`,
  order_not_found: () => "no order has that id: see `reseller admin order list`",
  order_transition_illegal: ({ from, to }) =>
    `the order is ${from}, and ${from} cannot become ${to}: see \`reseller admin order show\``,
  order_not_processing: ({ status }) =>
    `the order is ${status}: progress is noted on PROCESSING orders only`,
  remains_above_quantity: ({ quantity }) =>
    `--remains is above the order's quantity: give 0 to ${quantity}`,
  order_being_sent: () =>
    "the order is being sent to its provider right now: try again once that has ended",
  request_not_found: () => "no request has that id: see `reseller admin request list`",
  request_being_sent: () =>
    "the request is being sent to its provider right now: try again once that has ended",
  request_not_open: () =>
    "that cannot be decided for the request as it stands: see `reseller admin request list`",
  order_changed: () => "the order changed meanwhile: nothing was changed, look again",
  order_not_unknown: ({ status, placement }) =>
    `the order is ${status} and its placement ${placement}: only a PENDING one that is unknown can be settled, and the number that a settlement gave be corrected with --placed while its provider has reported nothing; otherwise end it with \`reseller admin order fail\``,
  adjustment_reference_taken: ({ direction, amountMicros, createdAt, seq }) =>
    `the reference was used on ${new Date(createdAt).toISOString()} for a ${direction} of ${formatMicros(amountMicros)} USD (transaction ${seq}): nothing was changed, choose another reference`,
  child_cannot_hold_discount: () =>
    "that user is a child user, which orders nothing: give the discount to the parent",
  nothing_refunded: () =>
    "nothing is refunded, so that nobody would see the --public-note: leave it out",
  late_report_absent: () =>
    "no change was reported after the order's end that is not decided yet: see `reseller admin order list --late`",
  late_report_inapplicable: ({ status, reported }) =>
    `the order is ${status} and was reported ${reported} since: nothing of that can be applied, dismiss it with --dismiss`,
  late_remains_missing: () =>
    "what remained was not stored with this report: ask the provider and give --remains",
  grants_invalid: ({ rows }) => countedWrong(rows.length),
  provider_not_found: () => "no provider has that name: see `reseller admin provider list`",
  provider_name_taken: () =>
    "a provider has that name already (case does not count): choose another",
  provider_key_needed: () =>
    "a new address needs the provider's key again: nothing was changed, give --key-stdin",
  provider_order_taken: ({ orderId }) =>
    `order ${orderId} has that number at this provider: look the right one up there`,
  service_in_use: ({ orders }) =>
    orders
      ? "the service has orders, which refer to it: deactivate it with `reseller admin service deactivate`"
      : "resellers have grants for the service: revoke them first with `reseller admin service revoke`",
  provider_inactive: () =>
    "the provider is inactive: activate it first with `reseller admin provider activate`",
  provider_in_use: ({ services, orders }) =>
    orders
      ? "the provider has orders, which refer to it: deactivate it with `reseller admin provider deactivate`"
      : `${services === 1 ? "a service is" : `${services} services are`} delivered by the provider: delete them, or give them another with \`reseller admin service update\``,
  provider_name_reserved: () =>
    "that name stands for no provider (`service update --provider none`): choose another",
  markup_missing: () =>
    "no markup is stored, and a scheduled sync has nobody to ask: give --markup, such as --markup 30%",
  service_has_no_provider: () => "the service has no provider: name one with --provider",
  route_not_found: () =>
    "the service has no such route: see `reseller admin service route ID list`",
  routes_too_many: () => `a service has at most ${ROUTES_LIMIT} routes: remove one first`,
  catalogue_changed: () =>
    "the catalogue changed while the provider's list was compared: nothing was changed, run it again",
  price_too_large: ({ id }) =>
    `the price of service ${id} would pass ${formatMicros(AMOUNT_LIMIT_MICROS)} USD: nothing was changed, choose a smaller percentage`,
  alert_endpoint_not_found: () => "no alert endpoint has that id: see `reseller admin alert list`",
  alert_endpoints_too_many: () =>
    `there are ${ALERT_ENDPOINTS_LIMIT} alert endpoints already: delete one of them`,
  administrator_not_found: () =>
    "no administrator of the panel has that name: see `reseller panel list`",
  administrator_name_taken: () =>
    "an administrator has that name already: choose another, or give that one a new password with `reseller panel password`",
  administrator_last_owner: () =>
    "that is the last owner who is active: invite another first with `reseller panel invite NAME --role owner`",
  second_factor_absent: () => "that administrator has no second factor: nothing to remove",
  second_factor_present: () => "that administrator has a second factor already: remove it first",
} satisfies { [Code in CommandLineCode]: (details: Refusals[Code]) => string };

/** Returns the sentence for a refusal, or its code if only API calls can cause it. */
export function sentenceOf({ code, details }: Refusal): string {
  if (!isCommandLineCode(code)) return `refused: ${code}`;
  return (SENTENCES[code] as (details: unknown) => string)(details);
}

function isCommandLineCode(code: RefusalCode): code is CommandLineCode {
  return Object.hasOwn(SENTENCES, code);
}
