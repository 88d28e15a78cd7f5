// Refusals about orders, requests to cancel or refill them, and late reports.

import { formatMicros, TRANSFER_LIMIT_MICROS } from "../ledger/money.ts";
import { type LimitName, rateItem } from "../values/rate-fields.ts";
import { entry, see } from "../values/refusal-entry.ts";
import { counted } from "../values/text.ts";

/** The text under /api/v2 for a quantity that is too large. */
const ABOVE_MAXIMUM = "neworder.error.max_quantity";

interface OrderState {
  status: string;
  placement: string;
}

function stateText({ status, placement }: OrderState): string {
  return `The order is ${status} and its placement ${placement}`;
}

/** When a limit ends, and the whole seconds until then. */
export interface LimitEnd {
  /** Milliseconds since 1970. */
  endsAt: number;
  retryAfterSeconds: number;
}

export interface SpendLimitExceeded extends LimitEnd {
  period: "day" | "month";
  limitMicros: number;
  leftMicros: number;
}

function limitHeaders(name: LimitName, remaining: number, seconds: number): Record<string, string> {
  return { "retry-after": String(seconds), ratelimit: rateItem(name, remaining, seconds) };
}

function isoText(at: number): string {
  return new Date(at).toISOString();
}

export const ORDER_REFUSALS = {
  order_not_found: entry({
    status: 404,
    message: "Order not found",
    commandLine: see("admin order list"),
    fields: ["order"],
    isAbsence: true,
    smmApi: "Incorrect order ID",
  }),
  quantity_below_minimum: entry<{ min: number }>({
    status: 400,
    fields: ["quantity"],
    message: ({ min }) => `Minimum order is ${min}`,
    smmApi: "neworder.error.min_quantity",
  }),
  quantity_above_maximum: entry<{ max: number }>({
    status: 400,
    fields: ["quantity"],
    message: ({ max }) => `Maximum order is ${max}`,
    smmApi: ABOVE_MAXIMUM,
  }),
  charge_too_large: entry({
    status: 400,
    fields: ["quantity"],
    message: `quantity must be small enough to keep the charge at or below ${formatMicros(TRANSFER_LIMIT_MICROS)}`,
    smmApi: ABOVE_MAXIMUM,
  }),
  /** The limits of a reseller: docs/specification/users.md#reseller-limits. */
  orders_per_minute_exceeded: entry<{ allowed: number } & LimitEnd>({
    status: 429,
    message: ({ allowed, endsAt }) =>
      `At most ${counted(allowed, "order")} a minute; the next minute begins at ${isoText(endsAt)}`,
    headers: ({ retryAfterSeconds }) => limitHeaders("orders-per-minute", 0, retryAfterSeconds),
    members: ({ endsAt }) => ({ limit: "orders-per-minute", endsAt: isoText(endsAt) }),
    smmApi: "Too many orders in a minute",
  }),
  spend_limit_exceeded: entry<SpendLimitExceeded>({
    status: 429,
    message: ({ period, limitMicros, leftMicros, endsAt }) =>
      `At most ${formatMicros(limitMicros)} USD may be spent a ${period}; ${formatMicros(leftMicros)} is left until ${isoText(endsAt)}`,
    headers: ({ period, leftMicros, retryAfterSeconds }) =>
      limitHeaders(`spend-per-${period}`, leftMicros, retryAfterSeconds),
    members: ({ period, endsAt }) => ({ limit: `spend-per-${period}`, endsAt: isoText(endsAt) }),
    smmApi: "Spend limit reached",
  }),
  /** The limit ends when an order ends, not at a known time, so the status is not 429. */
  open_orders_exceeded: entry<{ allowed: number }>({
    status: 403,
    message: ({ allowed }) =>
      `At most ${counted(allowed, "order")} may be open; place more when some have ended`,
    headers: () => ({ ratelimit: rateItem("open-orders", 0) }),
    members: () => ({ limit: "open-orders" }),
    smmApi: "Too many open orders",
  }),
  /** The order that already has this reference, as its caller sees it. */
  reference_taken: entry<{ order: { orderId: number } }>({
    status: 409,
    message: "Reference was already used",
    members: ({ order }) => ({ order }),
  }),
  /** The order as its caller sees it: FAILED and refunded. */
  provider_refused: entry<{ order: object }>({
    status: 502,
    message: "The provider refused the order; the charge was refunded",
    members: ({ order }) => ({ order }),
  }),
  order_not_cancellable: entry({
    status: 400,
    message: "Order cannot be cancelled",
    smmApi: "Order cannot be cancelled",
  }),
  order_not_refillable: entry({
    status: 400,
    message: "Order cannot be refilled",
    smmApi: "Order cannot be refilled",
  }),
  /** The order already has an open request of this kind. */
  request_already_open: entry({
    status: 400,
    message: "A request is already open",
    smmApi: "A request is already open",
  }),
  order_transition_illegal: entry<{ from: string; to: string }>({
    status: 400,
    message: ({ from, to }) => `${from} cannot become ${to}`,
    commandLine: see("admin order show"),
    fields: ["status"],
  }),
  remains_above_quantity: entry<{ quantity: number }>({
    status: 400,
    message: ({ quantity }) => `remains must be at most the quantity, ${quantity}`,
    members: () => ({ field: "remains" }),
    fields: ["remains"],
  }),
  order_not_processing: entry<{ status: string }>({
    message: ({ status }) => `The order is ${status}`,
    hint: "progress is noted on PROCESSING orders only",
    fields: ["status"],
  }),
  order_being_sent: entry({
    message: "The order is being sent to its provider right now",
    hint: "try again",
  }),
  /** The order that replaces it already exists. */
  order_resent: entry<{ orderId: number; resentAs: number }>({
    message: ({ orderId, resentAs }) => `Order ${orderId} was sent again as order ${resentAs}`,
    hint: "if that one failed too, send it again",
  }),
  order_not_resendable: entry<{ status: string }>({
    message: ({ status }) => `The order is ${status}`,
    hint: "only a FAILED order can be sent again",
  }),
  order_service_changed: entry({
    message: "The service has another type than when the order was placed",
    hint: "place a new order",
  }),
  order_link_fixed: entry<OrderState>({
    message: stateText,
    hint: "a link can be corrected while the order waits to be sent, or while you deliver it by hand",
    fields: ["link"],
  }),
  /** The order's refund is no longer the one that was confirmed. */
  order_changed: entry({
    message: "The order changed at the same time",
    hint: "nothing was changed, look again",
  }),
  order_not_unknown: entry<OrderState>({
    message: stateText,
    hint: "only a PENDING order whose submission is unknown can be settled; its number can be corrected until its provider reports",
    commandLine: "otherwise use `reseller admin order fail`",
    fields: ["settlement"],
  }),
  provider_order_taken: entry<{ orderId: number }>({
    message: ({ orderId }) => `Order ${orderId} has that number at this provider`,
    hint: "look up the right number there",
    fields: ["provider-order"],
  }),
  /** A public note was given, but nothing is refunded, so the user would never see it. */
  nothing_refunded: entry({
    message: "There is no refund, so the reseller would not see this note",
    commandLine: "leave out --public-note",
    fields: ["public-note"],
  }),
  request_not_found: entry({
    message: "Request not found",
    commandLine: see("admin request list"),
    fields: ["request"],
    isAbsence: true,
  }),
  request_being_sent: entry({
    message: "The request is being sent to its provider right now",
    hint: "try again",
  }),
  request_not_open: entry({
    message: "This request is no longer open for that decision",
    commandLine: see("admin request list"),
  }),
  late_report_absent: entry({
    message: "No late report waits for a decision",
    commandLine: see("admin order list --late"),
  }),
  late_report_inapplicable: entry<{ status: string; reported: string }>({
    message: ({ status, reported }) =>
      `The order is ${status} and was reported ${reported}, which cannot be applied`,
    hint: "dismiss it",
    commandLine: "give --dismiss",
    fields: ["decision"],
  }),
  late_remains_missing: entry({
    message: "remains is required, because it was not stored with this report",
    hint: "ask the provider",
    commandLine: "give --remains",
    fields: ["remains"],
  }),
};
