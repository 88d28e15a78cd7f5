// The events of webhooks: their types, the subscriptions of endpoints, and their bodies.
// docs/specification/webhooks.md#webhook-events.

import { jsonAmount, type Micros } from "../ledger/money.ts";
import { ORDER_STATUSES, type OrderStatus } from "../orders/order-statuses.ts";
import { orderStatus, type PublicOrder } from "../orders/order-members.ts";

/**
 * The event types, each with the number of its bit in users.wanted_events. Numbers are stored, so they never change and
 * are never used again. A new type takes the next free one, below ALL_BIT. Lists of types are in this order.
 */
export const EVENT_BITS = {
  "order.processing": 0,
  "order.completed": 1,
  "order.partial": 2,
  "order.failed": 3,
  "order.cancelled": 4,
  "order.refunded": 5,
  "order.progress": 6,
  "balance.credited": 7,
  "balance.low": 8,
  "service.changed": 9,
  "webhook.test": 10,
} as const;
export type WebhookEventType = keyof typeof EVENT_BITS;
export const WEBHOOK_EVENT_TYPES = Object.keys(EVENT_BITS) as WebhookEventType[];

/** Subscribes to all types except those that an endpoint must name. */
export const ALL_EVENTS = "*";
const ONLY_BY_NAME: ReadonlySet<string> = new Set<WebhookEventType>([
  "order.progress",
  "webhook.test",
]);
/** The event types to which an endpoint may subscribe. */
export const WANTABLE_EVENTS = [
  ALL_EVENTS,
  ...WEBHOOK_EVENT_TYPES.filter((type) => type !== "webhook.test"),
] as const;
export type WantedEvent = (typeof WANTABLE_EVENTS)[number];
export const EVENTS_FORM = `a list of event types or ["${ALL_EVENTS}"]`;

/** Reasons for which an endpoint is disabled. `gone`: it responded 410. */
export const DISABLED_REASONS = ["failures", "gone", "operator", "owner"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Returns each type once, in the order of WANTABLE_EVENTS; null when the list is empty or has an unknown type. */
export function parseEvents(events: readonly unknown[]): WantedEvent[] | null {
  const known = WANTABLE_EVENTS.filter((type) => events.includes(type));
  const isKnown = (type: unknown) => WANTABLE_EVENTS.some((each) => each === type);
  return known.length > 0 && events.every(isKnown) ? known : null;
}

/**
 * The number of the bit that `*` sets. It stands for all types that need not be named, also for types that are added
 * after the row was written.
 */
const ALL_BIT = 30;

/** Makes the functions for subscriptions as bits. Tests make them for a later version, with more types. */
export function subscriptionsTo<Type extends string>(eventBits: Readonly<Record<Type, number>>) {
  const types = Object.keys(eventBits) as Type[];
  const isInAll = (type: string) => !ONLY_BY_NAME.has(type);
  const bitsOf = (wanted: readonly Type[]) =>
    wanted.reduce((bits, type) => bits | (1 << eventBits[type]), 0);
  const allBits = bitsOf(types.filter(isInAll)) | (1 << ALL_BIT);
  const complete = (bits: number) => ((bits & (1 << ALL_BIT)) === 0 ? bits : bits | allBits);
  return {
    /** Converts an endpoint's stored list of types to the bits in its account's row. */
    bitsOf: (events: string): number => {
      const named = events.split(",");
      const bits = bitsOf(types.filter((type) => named.includes(type)));
      return named.includes(ALL_EVENTS) ? bits | allBits : bits;
    },

    wants: (bits: number, type: Type): boolean => (complete(bits) & (1 << eventBits[type])) !== 0,

    /** Returns whether two subscriptions mean the same. The bits of `*` may be from a version with fewer types. */
    areSame: (one: number, other: number): boolean => complete(one) === complete(other),
  };
}

export const {
  bitsOf: bitsOfEvents,
  wants: wantsEvent,
  areSame: areSameEvents,
} = subscriptionsTo(EVENT_BITS);

/** A status to which a transition leads. */
type StatusReached = Exclude<OrderStatus, "PENDING">;

const TYPE_BY_STATUS = Object.fromEntries(
  ORDER_STATUSES.map((status) => [status, `order.${status.toLowerCase()}`]),
) as { [Status in StatusReached]: `order.${Lowercase<Status>}` };

/** Returns the event of a transition. No transition leads to PENDING. */
export function typeOfTransition(to: OrderStatus): WebhookEventType {
  return TYPE_BY_STATUS[to as StatusReached];
}

export interface EventOrder extends PublicOrder {
  refundedMicros: number;
  sequence: number;
}

/** Returns the body of an event, as it is stored and sent. */
export function eventBody(
  type: WebhookEventType,
  at: number,
  data: object,
  isTest = false,
): string {
  const side = isTest ? { test: true } : {};
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), ...side, data });
}

export function orderEventData(order: EventOrder, previousStatus: OrderStatus): object {
  const { refundedMicros, sequence } = order;
  const status = { ...orderStatus(order), refunded: jsonAmount(refundedMicros) };
  return { order: status, previousStatus, sequence };
}

/** The kinds of credits from outside. */
export const CREDIT_KINDS = ["recharge", "adjustment", "payment", "payment_bonus"] as const;
export type CreditKind = (typeof CREDIT_KINDS)[number];

export function balanceCreditedData(
  balanceMicros: Micros,
  amountMicros: number,
  kind: CreditKind,
): object {
  return { balance: jsonAmount(balanceMicros), amount: jsonAmount(amountMicros), kind };
}

/** Returns whether a balance falls below a threshold that it was not below before. */
export function fallsBelow(before: Micros, after: Micros, thresholdMicros: number): boolean {
  return before >= thresholdMicros && after < thresholdMicros;
}

export function balanceLowData(balanceMicros: Micros, thresholdMicros: number): object {
  return { balance: jsonAmount(balanceMicros), threshold: jsonAmount(thresholdMicros) };
}
