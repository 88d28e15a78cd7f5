// Alerts for the operator: the endpoints that receive them, and a message when each begins and when it ends. Messages
// are written in the transaction that records the change. docs/specification/alerts.md#alerts.

import { ALERT_ENDPOINTS_LIMIT } from "../../domain/values/limits.ts";
import { ALERT_EVENTS, TELEGRAM_API } from "../../domain/alerts/alert-endpoints.ts";
import {
  type AlertChanges,
  type AlertEventType,
  type AlertText,
  alertBody,
  endingOf,
  isNotifiedAgain,
  MAIL_ALERT_KIND,
  PROVIDER_KINDS,
  TEST_ALERT_KIND,
  UNWRITABLE,
} from "../../domain/alerts/alerts.ts";
import type { AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { type Alert, webhookEvents, webhooks } from "../../db/tables/webhooks.ts";
import {
  type AlertEndpoint,
  findAlertEndpoint,
  findOpenAlert,
  insertAlert,
  listAlertEndpoints,
  listOpenAlerts,
  resolveAlert,
  updateAlert,
} from "../../db/webhooks/alerts.ts";
import type { Tx } from "../../db/port/port.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { queueMail } from "../mails/mails.ts";
import { type EventDelivery, insertOutboxEvent } from "./webhook-events.ts";

const SINGLE_ATTEMPT: EventDelivery = { tries: 1, replay: true };

export interface CreateAlertEndpoint {
  /** A URL that parseWebhookUrl has checked, or a Telegram chat. */
  target: { url: string } | { telegramChat: string };
  /** The signing secret, or the token of the Telegram bot. */
  secret: string;
  actor: Actor;
}

/**
 * Creates an endpoint. It also receives the alerts that are open now, so that it does not receive an end without a
 * beginning. Refuses: alert_endpoints_too_many.
 */
export function createAlertEndpoint(
  tx: Tx,
  { target, secret, actor }: CreateAlertEndpoint,
  context: Context,
): AlertEndpoint {
  tx.lock(CATALOGUE_LOCK);
  const others = listAlertEndpoints(tx);
  if (others.length >= ALERT_ENDPOINTS_LIMIT) throw refusal("alert_endpoints_too_many");
  const open = listOpenAlerts(tx);
  // Nothing is refused from here on.
  const endpoint = tx.insert(webhooks, {
    id: context.createId(),
    resellerAccount: null,
    telegramChat: "telegramChat" in target ? target.telegramChat : null,
    url: "url" in target ? target.url : `${TELEGRAM_API}/`,
    events: ALERT_EVENTS,
    secret,
    active: true,
    createdAt: context.now,
  }) as AlertEndpoint;
  for (const { kind, subject, message, raisedAt } of open) {
    notify(tx, "alert.raised", { kind, subject, message }, raisedAt, [endpoint], context);
  }
  auditEndpoint(tx, context, actor, null, endpoint);
  return endpoint;
}

export interface AlertEndpointCommand {
  id: string;
  actor: Actor;
}

/** Deletes an endpoint, to which nothing more is sent. Returns it as it was. Refuses: alert_endpoint_not_found. */
export function deleteAlertEndpoint(
  tx: Tx,
  { id, actor }: AlertEndpointCommand,
  context: Context,
): AlertEndpoint {
  const endpoint = requireEndpoint(tx, id);
  tx.update(webhooks, endpoint, {
    active: false,
    disabledReason: "operator",
    disabledAt: context.now,
    deletedAt: context.now,
    secret: "",
  });
  auditEndpoint(tx, context, actor, endpoint, null);
  return endpoint;
}

/**
 * Sends an alert of kind `test` in one attempt. It has no end. Returns 1, the number of messages queued.
 * Refuses: alert_endpoint_not_found.
 */
export function testAlertEndpoint(tx: Tx, { id }: AlertEndpointCommand, context: Context): number {
  const endpoint = requireEndpoint(tx, id);
  const message = "This is a test: alerts arrive here";
  const text = { kind: TEST_ALERT_KIND, subject: TEST_ALERT_KIND, message };
  notify(tx, "alert.raised", text, context.now, [endpoint], context, SINGLE_ATTEMPT);
  return 1;
}

/**
 * Records alerts. Returns only new changes: another server, or an earlier call whose reply was lost, may have recorded
 * the other changes.
 */
export function recordAlerts(
  tx: Tx,
  { begun, ended, changed = [] }: AlertChanges,
  context: Context,
): AlertChanges {
  tx.lock(CATALOGUE_LOCK);
  const endpoints = listAlertEndpoints(tx);
  const fresh = begun.filter(({ kind, subject }) => !findOpenAlert(tx, kind, subject));
  const over = ended.filter(({ kind, subject }) => findOpenAlert(tx, kind, subject));
  for (const { amount = 0, ...text } of fresh) {
    const times = { raisedAt: context.now, notifiedAt: context.now, resolvedAt: null };
    insertAlert(tx, { ...text, ...times, notifiedAmount: amount });
    notifyAll(tx, "alert.raised", text, context.now, endpoints, context);
  }
  const again = changed.filter((text) => updateOpenAlert(tx, text, context));
  for (const text of again) notifyAll(tx, "alert.raised", text, context.now, endpoints, context);
  for (const text of over) {
    resolveAlert(tx, findOpenAlert(tx, text.kind, text.subject)!, context.now);
    notifyAll(tx, "alert.resolved", text, context.now, endpoints, context);
  }
  return { begun: fresh, ended: over, changed: again };
}

/** Updates the text of an open alert. Returns whether the alert is sent once more. */
function updateOpenAlert(
  tx: Tx,
  { kind, subject, message, amount = 0 }: AlertText,
  { now }: Context,
): boolean {
  const open = findOpenAlert(tx, kind, subject);
  if (!open) return false;
  const isNotified = isNotifiedAgain(open, amount, now);
  updateAlert(tx, open, {
    message,
    ...(isNotified ? { notifiedAmount: amount, notifiedAt: now } : {}),
  });
  return isNotified;
}

/**
 * Ends a provider's alerts after an action by the operator. Without this the next check would report that the problem
 * is solved. Returns the alerts that ended.
 */
export function endProviderAlerts(
  tx: Tx,
  { kinds, provider, message }: { kinds: ReadonlySet<string>; provider: string; message: string },
  context: Context,
): Alert[] {
  const open = listOpenAlerts(tx).filter(
    ({ kind, subject }) => kinds.has(kind) && subject === provider,
  );
  const endpoints = listAlertEndpoints(tx);
  for (const alert of open) {
    const { kind, subject } = alert;
    resolveAlert(tx, alert, context.now);
    const ended = { kind, subject, message };
    notifyAll(tx, "alert.resolved", ended, context.now, endpoints, context);
  }
  return open;
}

/** Ends the alerts about a renamed provider, and begins them again under its new name. */
export function renameAlerts(tx: Tx, before: string, name: string, context: Context): void {
  const endpoints = listAlertEndpoints(tx);
  const message = `${before} is called ${name} now`;
  const renamed = { kinds: PROVIDER_KINDS, provider: before, message };
  for (const alert of endProviderAlerts(tx, renamed, context)) {
    const text = `${name}, formerly ${before}: ${alert.message}`;
    const begun = { kind: alert.kind, subject: name, message: text };
    const times = { raisedAt: context.now, notifiedAt: context.now, resolvedAt: null };
    insertAlert(tx, { ...begun, ...times, notifiedAmount: alert.notifiedAmount });
    notifyAll(tx, "alert.raised", begun, context.now, endpoints, context);
  }
}

export interface RecordOutage {
  /** When the database stopped accepting writes. */
  beganAt: number;
  /** The id of the event that was sent at the beginning, without the queue in the database. */
  eventId: string;
  /** The public ids of endpoints that received this event. */
  notified: string[];
}

/**
 * Records an outage when the database accepts writes again. Its beginning is sent to the endpoints that have not
 * received it, its end to all. Does nothing if the outage was recorded before.
 */
export function recordOutage(
  tx: Tx,
  { beganAt, eventId, notified }: RecordOutage,
  context: Context,
): null {
  tx.lock(CATALOGUE_LOCK);
  const endpoints = listAlertEndpoints(tx);
  if (tx.row(webhookEvents.byId, eventId)) return null;
  const { kind, subject } = UNWRITABLE;
  insertAlert(tx, { ...UNWRITABLE, raisedAt: beganAt, resolvedAt: context.now });
  const others = endpoints.filter(({ id }) => !notified.includes(id));
  insertOutboxEvent(
    tx,
    {
      id: eventId,
      account: null,
      type: "alert.raised",
      body: alertBody("alert.raised", UNWRITABLE, beganAt),
    },
    others,
    context,
  );
  mailAlert(tx, "alert.raised", UNWRITABLE, beganAt, context);
  notifyAll(tx, "alert.resolved", endingOf(kind, subject), context.now, endpoints, context);
  return null;
}

type Notified = Omit<AlertText, "kind"> & { kind: string };

/** Sends an alert to endpoints, and to the operator by e-mail. */
function notifyAll(
  tx: Tx,
  type: AlertEventType,
  text: Notified,
  at: number,
  endpoints: readonly AlertEndpoint[],
  context: Context,
): void {
  notify(tx, type, text, at, endpoints, context);
  mailAlert(tx, type, text, at, context);
}

/** Queues a mail about an alert, unless the alert says that mails fail. */
function mailAlert(
  tx: Tx,
  event: AlertEventType,
  { kind, subject, message }: Notified,
  at: number,
  context: Context,
): void {
  if (kind === MAIL_ALERT_KIND) return;
  const data = { event, kind, subject, message, at };
  queueMail(tx, { kind: "alert", to: "operator", data }, context);
}

function notify(
  tx: Tx,
  type: AlertEventType,
  text: Notified,
  at: number,
  endpoints: readonly AlertEndpoint[],
  context: Context,
  delivery?: EventDelivery,
): void {
  if (endpoints.length === 0) return;
  const body = alertBody(type, text, at);
  const event = { id: context.createEventId(), account: null, type, body };
  insertOutboxEvent(tx, event, endpoints, context, delivery);
}

function requireEndpoint(tx: Tx, id: string): AlertEndpoint {
  const endpoint = findAlertEndpoint(tx, id);
  if (!endpoint) throw refusal("alert_endpoint_not_found");
  return endpoint;
}

function auditEndpoint(
  tx: Tx,
  context: Context,
  actor: Actor,
  before: AlertEndpoint | null,
  after: AlertEndpoint | null,
): void {
  audit(tx, context, {
    actor,
    action: after ? "alert.create" : "alert.delete",
    subject: (after ?? before)!.id,
    account: null,
    before: before && endpointFacts(before),
    after: after && endpointFacts(after),
  });
}

/** Returns the fields of an endpoint that the audit log records: no secret, no token. */
function endpointFacts({ url, telegramChat }: AlertEndpoint): AuditFacts {
  return telegramChat === null ? { url } : { telegramChat };
}
