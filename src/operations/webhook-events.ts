// Writes the events of a change, in the transaction of the change, for the endpoints that want them. A reseller without such
// an endpoint is told by its row, which the change has read anyway. docs/specification.md#webhook-events.

import { takesEvents } from "../domain/webhooks.ts";
import {
  balanceCreditedData,
  balanceLowData,
  bitsOfEvents,
  eventBody,
  fallsBelow,
  type OfferedService,
  orderEventData,
  serviceChangedData,
  typeOfTransition,
  type WebhookEventType,
  wantsEvent,
} from "../domain/webhook-events.ts";
import { TEST_WEBHOOK_ATTEMPTS, WEBHOOK_ATTEMPTS } from "../domain/webhook-schedule.ts";
import { priceFor } from "../domain/prices.ts";
import type { OrderStatus } from "../domain/orders.ts";
import type { Tx } from "../db/port.ts";
import type { Order } from "../db/orders.ts";
import { type Grant, listServices, type Service } from "../db/services.ts";
import { grants, users, webhookDeliveries, webhookEvents } from "../db/tables.ts";
import { findTestAccount } from "../db/users.ts";
import { listWebhooks, type Webhook } from "../db/webhooks.ts";
import type { Context } from "./context.ts";

export interface NewEvent {
  account: number;
  type: WebhookEventType;
  data: object;
  /** Of an event of an order. */
  order?: { orderId: number; sequence: number };
}

export interface EventDelivery {
  /** Attempts at most. */
  tries: number;
  /** Whether it is sent to a disabled endpoint too, and counts for nothing if it fails. */
  replay: boolean;
}

const SCHEDULED: EventDelivery = { tries: WEBHOOK_ATTEMPTS, replay: false };

/** Writes an event and its delivery to each of the endpoints, due at once. */
export function insertEvent(
  tx: Tx,
  { account, type, data, order }: NewEvent,
  endpoints: readonly Webhook[],
  context: Context,
  { tries, replay }: EventDelivery = SCHEDULED,
): void {
  if (endpoints.length === 0) return;
  const { now } = context;
  const isTest = tx.row(users.byKey, account)!.testOf !== null;
  const { eventId } = tx.insert(webhookEvents, {
    id: context.createEventId(),
    resellerAccount: account,
    type,
    orderId: order?.orderId ?? null,
    sequence: order?.sequence ?? null,
    body: eventBody(type, now, data, isTest),
    createdAt: now,
  });
  const most = isTest ? Math.min(tries, TEST_WEBHOOK_ATTEMPTS) : tries;
  for (const { webhookId } of endpoints) {
    const delivery = { webhookId, eventId, state: "waiting", dueAt: now, tries: most } as const;
    // A replay fails for good.
    tx.insert(webhookDeliveries, { ...delivery, replay, failures: replay ? most : 0 });
  }
}

/** `order`: after the transition. An order that begins as PROCESSING made none. */
export function recordTransitionEvent(
  tx: Tx,
  order: Order,
  previousStatus: OrderStatus,
  context: Context,
): void {
  recordOrderEvent(tx, order, typeOfTransition(order.status), previousStatus, context);
}

/** The start count or what remains of the order has moved. */
export function recordProgressEvent(tx: Tx, order: Order, context: Context): void {
  recordOrderEvent(tx, order, "order.progress", order.status, context);
}

function recordOrderEvent(
  tx: Tx,
  order: Order,
  type: WebhookEventType,
  previousStatus: OrderStatus,
  context: Context,
): void {
  const { resellerAccount: account } = order;
  if (!wantsEvent(tx.row(users.byKey, account)!.wantedEvents, type)) return;
  const data = orderEventData(order, previousStatus);
  insertEvent(
    tx,
    { account, type, data, order },
    endpointsFor(tx, account, type, context),
    context,
  );
}

/** A recharge, or a credit by the operator. `user`: before it. */
export function recordCreditEvent(
  tx: Tx,
  user: { account: number; balanceMicros: bigint; wantedEvents: number },
  amountMicros: number,
  kind: "recharge" | "adjustment",
  context: Context,
): void {
  const type = "balance.credited";
  const { account } = user;
  if (!wantsEvent(user.wantedEvents, type)) return;
  const data = balanceCreditedData(user.balanceMicros + BigInt(amountMicros), amountMicros, kind);
  insertEvent(tx, { account, type, data }, endpointsFor(tx, account, type, context), context);
}

/** A charge or a debit. `user`: before it. An event for each threshold that the balance falls below. */
export function recordDebitEvents(
  tx: Tx,
  user: { account: number; balanceMicros: bigint; lowBalanceMicros: number | null },
  amountMicros: number,
  context: Context,
): void {
  const { account, balanceMicros: before, lowBalanceMicros } = user;
  const after = before - BigInt(amountMicros);
  if (lowBalanceMicros === null || after >= lowBalanceMicros) return;
  const type = "balance.low";
  const endpoints = endpointsFor(tx, account, type, context);
  const thresholds = new Set(endpoints.map(({ balanceLowBelow }) => balanceLowBelow));
  for (const threshold of thresholds) {
    if (threshold === null || !fallsBelow(before, after, threshold)) continue;
    const told = endpoints.filter(({ balanceLowBelow }) => balanceLowBelow === threshold);
    insertEvent(tx, { account, type, data: balanceLowData(after, threshold) }, told, context);
  }
}

/** The endpoints that are told of services, by account. */
export type ServiceListeners = ReadonlyMap<number, Webhook[]>;

/** Read once for a command, before its writes: an import may have a hundred thousand services. */
export function listServiceListeners(tx: Tx, context: Context): ServiceListeners {
  const wanting = endpointsOf(listWebhooks(tx), "service.changed", context);
  return Map.groupBy(wanting, ({ resellerAccount }) => resellerAccount);
}

/** `before`: null for a new service. Told to every reseller that may order it, before or after the change. */
export function recordServiceEvents(
  tx: Tx,
  listeners: ServiceListeners,
  before: Service | null,
  after: Service,
  context: Context,
): void {
  if (listeners.size === 0) return;
  tx.each([...listeners], ([account, endpoints]) => {
    const { testOf } = tx.row(users.byKey, account)!;
    const { discountPpm } = tx.row(users.byKey, testOf ?? account)!;
    const grant = tx.row(grants.byKey, after.id, testOf ?? account);
    const terms = { grant, discountPpm };
    const offers = { before: before && offerOf(before, terms), after: offerOf(after, terms) };
    insertServiceEvent(tx, account, offers, endpoints, context);
  });
}

/** A grant given, changed or withdrawn: the test side of the reseller is told too. */
export function recordGrantEvents(
  tx: Tx,
  service: Service,
  account: number,
  grant: { before: Grant | undefined; after: Grant | undefined },
  context: Context,
): void {
  const { discountPpm } = tx.row(users.byKey, account)!;
  const offerWith = (held: Grant | undefined) => offerOf(service, { grant: held, discountPpm });
  const offers = { before: offerWith(grant.before), after: offerWith(grant.after) };
  for (const { account: each, endpoints } of listenersOfSides(tx, account, context)) {
    insertServiceEvent(tx, each, offers, endpoints, context);
  }
}

/**
 * Another discount, before it is written: an event for each service whose price it changes. The test side of the reseller is
 * told too.
 */
export function recordDiscountEvents(
  tx: Tx,
  account: number,
  discountPpm: { before: number; after: number },
  context: Context,
): void {
  const sides = listenersOfSides(tx, account, context).filter(({ endpoints }) => endpoints.length);
  if (sides.length === 0) return;
  tx.each(listServices(tx), (service) => {
    const grant = tx.row(grants.byKey, service.id, account);
    const offerAt = (ppm: number) => offerOf(service, { grant, discountPpm: ppm });
    const offers = { before: offerAt(discountPpm.before), after: offerAt(discountPpm.after) };
    for (const { account: each, endpoints } of sides) {
      insertServiceEvent(tx, each, offers, endpoints, context);
    }
  });
}

/** The endpoints of a reseller and of its test account that are told of services. */
function listenersOfSides(tx: Tx, account: number, context: Context) {
  const test = findTestAccount(tx, account);
  const accounts = test ? [account, test.account] : [account];
  return accounts.map((each) => ({
    account: each,
    endpoints: endpointsFor(tx, each, "service.changed", context),
  }));
}

function insertServiceEvent(
  tx: Tx,
  account: number,
  offers: { before: OfferedService | null; after: OfferedService | null },
  endpoints: readonly Webhook[],
  context: Context,
): void {
  const data = serviceChangedData(offers.before, offers.after);
  if (data) insertEvent(tx, { account, type: "service.changed", data }, endpoints, context);
}

/** Null: the reseller may not order it. */
function offerOf(
  service: Service,
  { grant, discountPpm }: { grant: Grant | undefined; discountPpm: number },
): OfferedService | null {
  if (!service.active || (service.private && !grant)) return null;
  const { id, name, min, max } = service;
  const priceMicros = priceFor(service.priceMicros, grant?.priceMicros, discountPpm);
  return { id, name, priceMicros, min, max };
}

function endpointsFor(tx: Tx, account: number, type: WebhookEventType, context: Context) {
  return endpointsOf(listWebhooks(tx, account), type, context);
}

function endpointsOf(endpoints: readonly Webhook[], type: WebhookEventType, { now }: Context) {
  return endpoints.filter(
    (webhook) => wantsEvent(bitsOfEvents(webhook.events), type) && takesEvents(webhook, now),
  );
}
