// Writes the events of a change in its transaction, for endpoints that subscribe to them. The reseller's row, already
// read by the change, shows whether any do. docs/specification/webhooks.md#webhook-events.

import type { AlertEventType } from "../../domain/alerts/alerts.ts";
import { takesEvents } from "../../domain/webhooks/webhooks.ts";
import {
  balanceCreditedData,
  balanceLowData,
  bitsOfEvents,
  type CreditKind,
  eventBody,
  fallsBelow,
  orderEventData,
  typeOfTransition,
  type WebhookEventType,
  wantsEvent,
} from "../../domain/webhooks/webhook-events.ts";
import { TEST_WEBHOOK_ATTEMPTS, WEBHOOK_ATTEMPTS } from "../../domain/webhooks/webhook-schedule.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Order } from "../../db/orders/orders.ts";
import { users } from "../../db/tables/users.ts";
import { webhookDeliveries, webhookEvents } from "../../db/tables/webhooks.ts";
import { listWebhooks, type Webhook } from "../../db/webhooks/webhooks.ts";
import { mailLowBalance } from "../mails/mail-events.ts";
import type { Context } from "../batch/context.ts";

export interface NewEvent {
  account: number;
  type: WebhookEventType;
  data: object;
  /** Set for an event of an order. */
  order?: { orderId: number; sequence: number };
}

export interface EventDelivery {
  /** Maximum number of attempts. */
  tries: number;
  /** Whether it is also sent to a disabled endpoint, and a failure does not count. */
  replay: boolean;
}

const SCHEDULED: EventDelivery = { tries: WEBHOOK_ATTEMPTS, replay: false };

/** Writes an event, and a delivery of it to each endpoint, due at once. */
export function insertEvent(
  tx: Tx,
  { account, type, data, order }: NewEvent,
  endpoints: readonly Webhook[],
  context: Context,
  { tries, replay }: EventDelivery = SCHEDULED,
): void {
  if (endpoints.length === 0) return;
  const isTest = tx.row(users.byKey, account)!.testOf !== null;
  const most = isTest ? Math.min(tries, TEST_WEBHOOK_ATTEMPTS) : tries;
  const id = context.createEventId();
  const body = eventBody(type, context.now, data, isTest);
  const event = { id, account, type, body, ...(order && { order }) };
  insertOutboxEvent(tx, event, endpoints, context, { tries: most, replay });
}

/** An event as it is stored and sent. */
export interface OutboxEvent {
  id: string;
  /** Null: an event for the operator. */
  account: number | null;
  type: WebhookEventType | AlertEventType;
  body: string;
  order?: { orderId: number; sequence: number };
}

/** Writes an event whose body is complete, and a delivery of it to each endpoint, due at once. */
export function insertOutboxEvent(
  tx: Tx,
  { id, account, type, body, order }: OutboxEvent,
  endpoints: readonly { webhookId: number }[],
  { now }: Context,
  { tries, replay }: EventDelivery = SCHEDULED,
): void {
  const { eventId } = tx.insert(webhookEvents, {
    id,
    resellerAccount: account,
    type,
    orderId: order?.orderId ?? null,
    sequence: order?.sequence ?? null,
    body,
    createdAt: now,
  });
  for (const { webhookId } of endpoints) {
    const delivery = { webhookId, eventId, state: "waiting", dueAt: now, tries } as const;
    // A replay that fails is not tried again.
    tx.insert(webhookDeliveries, { ...delivery, replay, failures: replay ? tries : 0 });
  }
}

/**
 * Records a transition. `order`: after it. An order of a manual service begins as PROCESSING, without such an event.
 */
export function recordTransitionEvent(
  tx: Tx,
  order: Order,
  previousStatus: OrderStatus,
  context: Context,
): void {
  recordOrderEvent(tx, order, typeOfTransition(order.status), previousStatus, context);
}

/** Records that the order's start count or `remains` has changed. */
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

/** Records a credit from outside. `user`: before it. */
export function recordCreditEvent(
  tx: Tx,
  user: { account: number; balanceMicros: bigint; wantedEvents: number },
  amountMicros: number,
  kind: CreditKind,
  context: Context,
): void {
  const type = "balance.credited";
  const { account } = user;
  if (!wantsEvent(user.wantedEvents, type)) return;
  const data = balanceCreditedData(user.balanceMicros + BigInt(amountMicros), amountMicros, kind);
  insertEvent(tx, { account, type, data }, endpointsFor(tx, account, type, context), context);
}

/**
 * Records a charge or a debit: one event for each threshold that the balance falls below, and mails to members. `user`:
 * before it.
 */
export function recordDebitEvents(
  tx: Tx,
  user: { account: number; balanceMicros: bigint; lowBalanceMicros: number | null },
  amountMicros: number,
  context: Context,
): void {
  const { account, balanceMicros: before, lowBalanceMicros } = user;
  const after = before - BigInt(amountMicros);
  if (lowBalanceMicros === null || after >= lowBalanceMicros) return;
  mailLowBalance(tx, account, { before, after }, context);
  const type = "balance.low";
  const endpoints = endpointsFor(tx, account, type, context);
  const thresholds = new Set(endpoints.map(({ balanceLowBelow }) => balanceLowBelow));
  for (const threshold of thresholds) {
    if (threshold === null || !fallsBelow(before, after, threshold)) continue;
    const recipients = endpoints.filter(({ balanceLowBelow }) => balanceLowBelow === threshold);
    insertEvent(tx, { account, type, data: balanceLowData(after, threshold) }, recipients, context);
  }
}

/** Returns the account's endpoints that receive events of the type. */
export function endpointsFor(tx: Tx, account: number, type: WebhookEventType, context: Context) {
  return endpointsOf(listWebhooks(tx, account), type, context);
}

export function endpointsOf(
  endpoints: readonly Webhook[],
  type: WebhookEventType,
  { now }: Context,
) {
  return endpoints.filter(
    (webhook) => wantsEvent(bitsOfEvents(webhook.events), type) && takesEvents(webhook, now),
  );
}
