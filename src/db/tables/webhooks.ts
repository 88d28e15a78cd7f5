// Tables of webhooks and alerts.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { AlertKind } from "../../domain/alerts/conditions.ts";
import type { AlertEventType } from "../../domain/alerts/alerts.ts";
import type { DisabledReason, WebhookEventType } from "../../domain/webhooks/webhook-events.ts";
import { type NewRowOf, type RowOf, table } from "../port/table-definition.ts";
import { CATALOGUE_LOCK, OUTBOX_LOCK, catalogueLock } from "./locks.ts";

export const webhooks = table(
  "webhooks",
  {
    webhookId: integer().primaryKey(),
    id: text().notNull(),
    /** Null: the endpoint belongs to the operator and receives alerts. */
    resellerAccount: integer(),
    /** The Telegram chat to send to, with `secret` as the bot's token. Null: send to `url`. */
    telegramChat: text(),
    url: text().notNull(),
    events: text().notNull(),
    balanceLowBelow: integer(),
    secret: text().notNull(),
    previousSecret: text(),
    previousUntil: integer(),
    olderSecrets: text().notNull().default("[]"),
    active: integer({ mode: "boolean" }).notNull(),
    disabledReason: text().$type<DisabledReason>(),
    disabledAt: integer(),
    failures: integer().notNull().default(0),
    failingSince: integer(),
    createdAt: integer().notNull(),
    deletedAt: integer(),
  },
  {
    key: ["webhookId"],
    numberField: "webhookId",
    unique: { byId: ["id"] },
    lock: ({ resellerAccount }) => resellerAccount ?? CATALOGUE_LOCK,
    // Written together with the attempts, under the queue's lock.
    unlocked: ["failures", "failingSince"],
  },
);

export type AnyWebhook = Readonly<RowOf<typeof webhooks>>;
export type NewWebhook = NewRowOf<typeof webhooks>;

export const webhookEvents = table(
  "webhook_events",
  {
    eventId: integer().primaryKey(),
    id: text().notNull(),
    resellerAccount: integer(),
    type: text().$type<WebhookEventType | AlertEventType>().notNull(),
    orderId: integer(),
    sequence: integer(),
    body: text().notNull(),
    createdAt: integer().notNull(),
  },
  {
    key: ["eventId"],
    numberField: "eventId",
    unique: { byId: ["id"] },
  },
);

export const webhookDeliveries = table(
  "webhook_deliveries",
  {
    deliveryId: integer().primaryKey(),
    webhookId: integer().notNull(),
    eventId: integer().notNull(),
    state: text().$type<"waiting" | "sending" | "delivered" | "failed">().notNull(),
    dueAt: integer(),
    server: text(),
    attempts: integer().notNull().default(0),
    failures: integer().notNull().default(0),
    tries: integer().notNull(),
    replay: integer({ mode: "boolean" }).notNull().default(false),
  },
  {
    key: ["deliveryId"],
    numberField: "deliveryId",
    unique: { byEvent: ["webhookId", "eventId"] },
    lock: (_, isNew) => (isNew ? null : OUTBOX_LOCK),
  },
);

export type WebhookDelivery = RowOf<typeof webhookDeliveries>;

export const webhookAttempts = table(
  "webhook_attempts",
  {
    seq: integer().primaryKey(),
    deliveryId: integer().notNull(),
    webhookId: integer().notNull(),
    attempt: integer().notNull(),
    at: integer().notNull(),
    durationMs: integer().notNull(),
    httpStatus: integer(),
    error: text(),
    response: text(),
  },
  {
    key: ["seq"],
    numberField: "seq",
    unique: { byAttempt: ["deliveryId", "attempt"] },
  },
);

export const alerts = table(
  "alerts",
  {
    seq: integer().primaryKey(),
    kind: text().$type<AlertKind>().notNull(),
    subject: text().notNull(),
    message: text().notNull(),
    raisedAt: integer().notNull(),
    resolvedAt: integer(),
    notifiedAmount: integer().notNull().default(0),
    notifiedAt: integer(),
  },
  {
    key: ["seq"],
    numberField: "seq",
    unique: { byOpen: ["kind", "subject"] },
    where: {
      byOpen: { text: "resolved_at IS NULL", holds: (row) => row["resolvedAt"] === null },
    },
    lock: catalogueLock,
  },
);

export type Alert = RowOf<typeof alerts>;
