// Takes due webhook deliveries, and records the outcome of each attempt. In between a delivery is leased: other servers
// do not take it until the lease ends. docs/specification/webhooks.md#webhook-schedule.

import {
  decideDelivery,
  decideHealth,
  shareAttempts,
  signingSecrets,
  storedResponse,
  WEBHOOK_LEASE_MS,
} from "../../domain/webhooks/webhooks.ts";
import { isTest } from "../../domain/orders/sandbox.ts";
import type { DisabledReason } from "../../domain/webhooks/webhook-events.ts";
import { spreadJitter } from "../../domain/values/jitter.ts";
import type { Tx } from "../../db/port/port.ts";
import { users } from "../../db/tables/users.ts";
import {
  type AnyWebhook,
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
  webhookEvents,
  webhooks,
} from "../../db/tables/webhooks.ts";
import {
  listDueDeliveries,
  listDueEndpoints,
  listInterruptedDeliveries,
} from "../../db/webhooks/webhook-deliveries.ts";
import type { Context } from "../batch/context.ts";

export interface TakeDueWebhookDeliveries {
  /** The id of the server that sends them. */
  server: string;
  /** Number of deliveries that the server can start now. */
  limit: number;
  /** Limit for the deliveries of one endpoint in flight, on all servers together. */
  perEndpoint: number;
  /** The public ids of endpoints that are slow to reply. */
  slow?: readonly string[];
}

export interface DueWebhookDelivery {
  deliveryId: number;
  /** The number of this delivery's attempt, from 1. */
  attempt: number;
  /** The public id of the endpoint. */
  webhookId: string;
  /** The public id of the event: `webhook-id`. */
  eventId: string;
  url: string;
  /** The current secret first. After a rotation, earlier ones follow until their grace ends. */
  secrets: string[];
  body: string;
  /** Whether it belongs to a test account. No metric counts such a delivery. */
  isTest: boolean;
  /** Set for an alert to the operator. */
  alert?: { telegramChat: string | null };
}

/** Takes due deliveries. No server takes them again until the attempt is recorded or the lease ends. */
export function takeDueWebhookDeliveries(
  tx: Tx,
  { server, limit, perEndpoint, slow = [] }: TakeDueWebhookDeliveries,
  { now }: Context,
): DueWebhookDelivery[] {
  const slowIds = tx.each(slow, (id) => tx.row(webhooks.byId, id)?.webhookId ?? 0);
  const { waiting, inFlight } = listDueEndpoints(tx, now, server, new Set(slowIds));
  const troubledLimit = Math.floor((limit + inFlight.all) / 2) - inFlight.troubled;
  const shares = shareAttempts(waiting, {
    limit,
    perEndpoint,
    troubledLimit,
    byOwner: inFlight.byOwner,
  });
  const due = tx.each(shares, ({ webhookId, count }) =>
    listDueDeliveries(tx, tx.row(webhooks.byKey, webhookId)!, now, count),
  );
  return tx.each(due.flat(), (deliveryId) => take(tx, deliveryId, server, now));
}

function take(tx: Tx, deliveryId: number, server: string, now: number): DueWebhookDelivery {
  const delivery = tx.row(webhookDeliveries.byKey, deliveryId)!;
  const event = tx.row(webhookEvents.byKey, delivery.eventId)!;
  const webhook = tx.row(webhooks.byKey, delivery.webhookId)!;
  const { attempts } = tx.update(webhookDeliveries, delivery, {
    state: "sending",
    dueAt: now + WEBHOOK_LEASE_MS,
    server,
    attempts: delivery.attempts + 1,
  });
  return {
    deliveryId,
    attempt: attempts,
    webhookId: webhook.id,
    eventId: event.id,
    url: webhook.url,
    secrets: signingSecrets(webhook, now),
    body: event.body,
    ...describeOwner(tx, webhook),
  };
}

function describeOwner(tx: Tx, { resellerAccount, telegramChat }: AnyWebhook) {
  if (resellerAccount === null) return { isTest: false, alert: { telegramChat } };
  return { isTest: isTest(tx.row(users.byKey, resellerAccount)!) };
}

export interface RecordWebhookAttempts {
  attempts: FinishedWebhookAttempt[];
  /** 0 to 1. */
  jitter: number;
}

export interface FinishedWebhookAttempt {
  deliveryId: number;
  attempt: number;
  /** When it began. */
  at: number;
  durationMs: number;
  /** Null: there was no response. */
  httpStatus: number | null;
  /** Null: a success. Otherwise a word for the error. */
  error: string | null;
  /** The beginning of the response's body; null: there was none. */
  response: string | null;
  retryAfterSeconds: number | null;
}

/** The consequence of an attempt, for log and metrics. */
export interface RecordedWebhookAttempt {
  deliveryId: number;
  webhookId: string;
  /** `late`: the delivery had already been taken again, or delivered. */
  result: "delivered" | "waiting" | "failed" | "late";
  /** Set when this attempt disabled the endpoint. */
  disabled: DisabledReason | null;
}

/**
 * Records attempts. Recording one again changes nothing, so a caller may repeat the command when it does not know
 * whether it was committed. Returns nothing for a delivery that no longer exists.
 */
export function recordWebhookAttempts(
  tx: Tx,
  { attempts, jitter }: RecordWebhookAttempts,
  { now }: Context,
): RecordedWebhookAttempt[] {
  const recorded = tx.each(attempts, (attempt, index) =>
    record(tx, attempt, spreadJitter(jitter, index), now),
  );
  return recorded.filter((each) => each !== null);
}

function record(
  tx: Tx,
  finished: FinishedWebhookAttempt,
  random: number,
  now: number,
): RecordedWebhookAttempt | null {
  const { deliveryId, attempt, at, durationMs, httpStatus, error, retryAfterSeconds } = finished;
  const delivery = tx.row(webhookDeliveries.byKey, deliveryId);
  if (!delivery) return null;
  const webhook = tx.row(webhooks.byKey, delivery.webhookId)!;
  const known = { deliveryId, webhookId: webhook.id };
  if (tx.row(webhookAttempts.byAttempt, deliveryId, attempt)) {
    return { ...known, result: "late", disabled: null };
  }
  const { webhookId } = delivery;
  const response = finished.response && storedResponse(finished.response);
  const times = { attempt, at, durationMs };
  tx.insert(webhookAttempts, { deliveryId, webhookId, ...times, httpStatus, error, response });
  const mayExceedSchedule = webhook.telegramChat !== null;
  const outcome = { httpStatus, error, retryAfterSeconds, mayExceedSchedule };
  const { active, disabledReason, disabledAt, failures, failingSince } = decideHealth(
    webhook,
    outcome,
    delivery.replay,
    now,
  );
  tx.update(webhooks, webhook, { failures, failingSince });
  const disabled = webhook.active && !active ? disabledReason : null;
  if (disabled) tx.update(webhooks, webhook, { active, disabledReason, disabledAt });
  const isCurrent = delivery.state === "sending" && delivery.attempts === attempt;
  if (isCurrent) {
    const decision = decideDelivery(delivery, outcome, now, random);
    tx.update(webhookDeliveries, delivery, { ...decision, server: null, replay: false });
    return { ...known, result: decision.state, disabled };
  }
  if (error === null) settleDelivered(tx, delivery);
  return { ...known, result: "late", disabled };
}

/** Settles a delivery that succeeded in an attempt whose lease had ended. */
function settleDelivered(tx: Tx, delivery: WebhookDelivery): void {
  const settled = { state: "delivered", dueAt: null, server: null, replay: false } as const;
  tx.update(webhookDeliveries, delivery, settled);
}

/**
 * Releases the deliveries in flight on servers that have ended: they wait again, due at once. This includes deliveries
 * to disabled or deleted endpoints, which no server takes when the lease ends. Returns how many.
 */
export function releaseWebhookDeliveries(
  tx: Tx,
  { server }: { server: string },
  { now }: Context,
): number {
  const interrupted = listInterruptedDeliveries(tx, server);
  tx.each(interrupted, (deliveryId) =>
    tx.update(webhookDeliveries, { deliveryId }, { state: "waiting", dueAt: now, server: null }),
  );
  return interrupted.length;
}
