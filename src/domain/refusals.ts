// Refusals: every reason for which the service refuses a request, as one closed list of codes.
// A rule or an operation throws Refusal; http/errors.ts and cli/errors.ts turn each code into a response.
// Anything else that is thrown is an internal error: logged, never shown.

import type { PublicOrderStatus } from "./responses.ts";

/**
 * The refusals that only API calls meet. A code is the `code` of the response, here, in the log and in metrics alike.
 * Details are what the message may use: numbers, our own words and the caller's own order, never text of others.
 */
interface ApiOnlyRefusals {
  field_missing: { field: string };
  field_invalid: { field: string; must: string };
  body_invalid: { must: "valid JSON" | "a JSON object" };
  body_too_large: null;
  content_type_invalid: null;
  api_key_missing: null;
  api_key_invalid: null;
  api_key_address_refused: null;
  permission_denied: { permission: "order" | "recharge" | "user lookup" | "webhook" };
  user_out_of_reach: null;
  quantity_below_minimum: { min: number };
  quantity_above_maximum: { max: number };
  charge_too_large: null;
  idempotency_key_reused: null;
  /** The order that already has this reference. */
  reference_taken: { order: PublicOrderStatus };
  /** The order as its caller sees it: FAILED and refunded. */
  provider_refused: { order: object };
  order_not_cancellable: null;
  order_not_refillable: null;
  /** One of its kind for the order. */
  request_already_open: null;
  too_many_requests: RateExceeded;
  /** A path that the caller's key does not have. */
  not_found: null;
  /** That a magic link asks for. */
  internal_error: null;
}

/** The refusals that API calls and commands of the command line meet. */
interface SharedRefusals {
  api_key_inactive: null;
  api_key_expired: null;
  /** `exists` for GET /user, whose response has that member. */
  user_not_found: { exists: false } | null;
  service_not_found: null;
  insufficient_balance: null;
  balance_too_large: null;
  deposits_too_large: null;
  order_not_found: null;
  webhook_not_found: null;
  webhooks_too_many: null;
  delivery_not_found: null;
  order_transition_illegal: { from: string; to: string };
  remains_above_quantity: { quantity: number };
  service_unavailable: null;
}

/** The refusals that only commands of the command line meet: in an API call each is an internal error. */
interface CommandLineOnlyRefusals {
  username_taken: null;
  parent_not_found: null;
  parent_is_child: null;
  child_cannot_hold_key: null;
  child_has_no_keys: null;
  user_inactive: null;
  user_erased: null;
  /** Only what nobody uses any more is erased. */
  user_active: null;
  user_has_open_orders: { orders: number };
  user_has_open_requests: { requests: number };
  child_cannot_hold_grant: null;
  child_cannot_hold_webhook: null;
  key_not_found: null;
  key_replaced: null;
  service_id_taken: null;
  service_bounds_crossed: { min: number; max: number };
  /** `per`: what its price may be for. */
  service_unit_unfit: { type: string; per: string };
  service_dripfeed_unfit: null;
  import_id_taken: { index: number };
  import_provider_unknown: { index: number };
  grant_not_found: null;
  order_not_processing: { status: string };
  order_being_sent: null;
  request_not_found: null;
  request_being_sent: null;
  request_not_open: null;
  /** Its refund is no longer the one that was confirmed. */
  order_changed: null;
  order_not_unknown: { status: string; placement: string };
  /** Used before for another amount, or in the other direction: what it was used for. */
  adjustment_reference_taken: AdjustmentMade;
  child_cannot_hold_discount: null;
  /** A note for the user, who would be told it with a refund that there is none of. */
  nothing_refunded: null;
  late_report_absent: null;
  late_report_inapplicable: { status: string; reported: string };
  late_remains_missing: null;
  grants_invalid: { rows: GrantProblem[] };
  provider_not_found: null;
  alert_endpoint_not_found: null;
  alert_endpoints_too_many: null;
  provider_name_taken: null;
  provider_order_taken: { orderId: number };
  service_has_no_provider: null;
  route_not_found: null;
  routes_too_many: null;
  service_in_use: { orders: boolean; grants: number };
  provider_inactive: null;
  provider_in_use: { services: number; orders: boolean };
  provider_name_reserved: null;
  markup_missing: null;
  import_field_missing: { index: number; field: string };
  import_bounds_crossed: { index: number };
  import_type_unfit: { index: number };
  import_provider_inactive: { index: number };
  catalogue_changed: null;
  price_too_large: { id: string };
  administrator_not_found: null;
  administrator_name_taken: null;
  /** Nobody would be left who may manage administrators. */
  administrator_last_owner: null;
  second_factor_absent: null;
  second_factor_present: null;
}

/** The refusals that only the panel meets. */
interface PanelOnlyRefusals {
  /** Name, password or state: the message does not say which, so that names cannot be tried. */
  sign_in_refused: null;
  sign_in_limited: { retryAfterSeconds: number };
  invitation_invalid: null;
  code_wrong: null;
}

/** Every refusal, with its details. */
export interface Refusals
  extends ApiOnlyRefusals, SharedRefusals, CommandLineOnlyRefusals, PanelOnlyRefusals {}

/** A credit or a debit by the operator that was made. */
export interface AdjustmentMade {
  seq: number;
  direction: "credit" | "debit";
  amountMicros: number;
  /** Milliseconds. */
  createdAt: number;
}

/** A row of an import of grants that is refused; `index`: which. */
export interface GrantProblem {
  index: number;
  code: "service_not_found" | "user_not_found" | "child_cannot_hold_grant";
}

/** Which rate limit was exceeded, and when the next request is allowed. */
export interface RateExceeded {
  by: "key" | "address";
  /** Requests in each window. */
  requests: number;
  windowSeconds: number;
  /** Requests at once. */
  burst: number;
  retryAfterSeconds: number;
}

export type RefusalCode = keyof Refusals;
export type ApiCode = keyof (ApiOnlyRefusals & SharedRefusals);
export type CommandLineCode = keyof (SharedRefusals & CommandLineOnlyRefusals);
export type PanelCode = CommandLineCode | keyof PanelOnlyRefusals;

/** Thrown for a request that breaks a rule, before anything is written. */
export class Refusal<Code extends RefusalCode = RefusalCode> extends Error {
  constructor(
    readonly code: Code,
    readonly details: Refusals[Code],
  ) {
    super(code);
    this.name = "Refusal";
  }
}

type CodeWithoutDetails = {
  [Code in RefusalCode]: null extends Refusals[Code] ? Code : never;
}[RefusalCode];

/** A refusal without details. */
export function refusal(code: CodeWithoutDetails): Refusal {
  return new Refusal(code, null);
}

/** The `code` of an error of the system, of SQLite or of Bun, such as ENOENT; empty when it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** What `body` returns, or the refusal it threw. */
export function attempt<T>(body: () => T): T | Refusal {
  try {
    return body();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
