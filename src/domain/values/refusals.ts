// Refusals: every reason for which the service refuses a request, as one closed list of codes.
// A rule or an operation throws Refusal; http/server/errors.ts and cli/kernel/errors.ts turn each code into a response.
// Anything else that is thrown is an internal error: logged, never shown.

import type { PublicOrderStatus } from "../orders/responses.ts";

/**
 * The refusals that only API calls meet. The same code is used here, as `code` of responses, in the log and in metrics.
 * Details are what the message may use: numbers, our own words and the caller's own order, never other people's text.
 */
interface ApiOnlyRefusals {
  field_missing: { field: string };
  field_invalid: { field: string; must: string };
  body_invalid: { must: "valid JSON" | "a JSON object" };
  body_too_large: null;
  /** Only for headers after a body: trailers, or what surrounds its chunks. */
  headers_too_large: null;
  content_type_invalid: null;
  api_key_missing: null;
  api_key_invalid: null;
  api_key_address_refused: null;
  permission_denied: { permission: "order" | "recharge" | "user lookup" | "webhook" };
  user_out_of_reach: null;
  recharge_limit_exceeded: { limitMicros: number };
  daily_limit_exceeded: { limitMicros: number; leftMicros: number };
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
  /** The order already has an open request of this kind. */
  request_already_open: null;
  too_many_requests: RateExceeded;
  /** The caller's key has no such path. */
  not_found: null;
  /** Only thrown when a magic link asks for it. */
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
  webhook_secrets_too_many: null;
  delivery_not_found: null;
  order_transition_illegal: { from: string; to: string };
  remains_above_quantity: { quantity: number };
  service_unavailable: null;
}

/** The refusals that only commands of the command line meet. In an API call each is an internal error. */
interface CommandLineOnlyRefusals {
  username_taken: null;
  parent_not_found: null;
  parent_is_child: null;
  child_cannot_hold_key: null;
  child_has_no_keys: null;
  user_inactive: null;
  user_erased: null;
  /** A main user must be deactivated before it is erased, and erased before its history is. */
  user_active: null;
  user_has_open_orders: { orders: number };
  user_has_open_requests: { requests: number };
  child_cannot_hold_grant: null;
  child_cannot_hold_webhook: null;
  key_not_found: null;
  key_replaced: null;
  key_cannot_recharge: null;
  service_id_taken: null;
  service_bounds_crossed: { min: number; max: number };
  /** `per`: the price units that the type allows. */
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
  /** The order's refund is no longer the one that was confirmed. */
  order_changed: null;
  order_not_unknown: { status: string; placement: string };
  /** The earlier adjustment that used the reference for another amount, or in the other direction. */
  adjustment_reference_taken: AdjustmentMade;
  child_cannot_hold_discount: null;
  /** A public note was given, but nothing is refunded, so the user would never see it. */
  nothing_refunded: null;
  late_report_absent: null;
  late_report_inapplicable: { status: string; reported: string };
  late_remains_missing: null;
  grants_invalid: { rows: GrantProblem[] };
  provider_not_found: null;
  alert_endpoint_not_found: null;
  alert_endpoints_too_many: null;
  provider_name_taken: null;
  /** A stored key is never sent to an address other than the one it was given for. */
  provider_key_needed: null;
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
  /** No administrator would be left who may manage administrators. */
  administrator_last_owner: null;
  second_factor_absent: null;
  second_factor_present: null;
}

/** The refusals that only the panel meets. */
interface PanelOnlyRefusals {
  /** Wrong name, password or state. The message does not say which, so that names cannot be guessed. */
  sign_in_refused: null;
  sign_in_limited: { retryAfterSeconds: number };
  invitation_invalid: null;
  code_wrong: null;
  /** `what`: the part of a form that the role does not allow. */
  owner_required: { what: string };
  /** The session has already ended, or belongs to another administrator. */
  session_not_found: null;
}

/** Every refusal, with its details. */
export interface Refusals
  extends ApiOnlyRefusals, SharedRefusals, CommandLineOnlyRefusals, PanelOnlyRefusals {}

/** A credit or debit that the operator made. */
export interface AdjustmentMade {
  seq: number;
  direction: "credit" | "debit";
  amountMicros: number;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** A refused row of an import of grants; `index`: its position. */
export interface GrantProblem {
  index: number;
  code: "service_not_found" | "user_not_found" | "child_cannot_hold_grant";
}

/** The rate limit that was exceeded, and when the next request is allowed. */
export interface RateExceeded {
  by: "key" | "address";
  /** Requests allowed in each window. */
  requests: number;
  windowSeconds: number;
  /** Requests allowed at once. */
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

/** Makes a refusal without details. */
export function refusal(code: CodeWithoutDetails): Refusal {
  return new Refusal(code, null);
}

/** The `code` of an error of the system, SQLite or Bun, such as ENOENT; empty when it has no code. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns what `body` returns, or the refusal that it throws. */
export function attempt<T>(body: () => T): T | Refusal {
  try {
    return body();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
