// The drizzle schema of webhooks and alerts: see schema.ts.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AlertEventType, AlertKind } from "../../domain/webhooks/alerts.ts";
import type { DisabledReason, WebhookEventType } from "../../domain/webhooks/webhook-events.ts";

export const webhooks = sqliteTable("webhooks", {
  webhookId: integer("webhook_id").primaryKey(),
  id: text().notNull(),
  /** Null: the endpoint belongs to the operator and receives alerts. */
  resellerAccount: integer("reseller_account"),
  /** The Telegram chat to send to; `secret` is then the bot's token. Null: send to `url`. */
  telegramChat: text("telegram_chat"),
  url: text().notNull(),
  events: text().notNull(),
  balanceLowBelow: integer("balance_low_below"),
  secret: text().notNull(),
  previousSecret: text("previous_secret"),
  previousUntil: integer("previous_until"),
  olderSecrets: text("older_secrets").notNull().default("[]"),
  active: integer({ mode: "boolean" }).notNull(),
  disabledReason: text("disabled_reason").$type<DisabledReason>(),
  disabledAt: integer("disabled_at"),
  failures: integer().notNull().default(0),
  failingSince: integer("failing_since"),
  createdAt: integer("created_at").notNull(),
  deletedAt: integer("deleted_at"),
});

export const webhookEvents = sqliteTable("webhook_events", {
  eventId: integer("event_id").primaryKey(),
  id: text().notNull(),
  resellerAccount: integer("reseller_account"),
  type: text().$type<WebhookEventType | AlertEventType>().notNull(),
  orderId: integer("order_id"),
  sequence: integer(),
  body: text().notNull(),
  createdAt: integer("created_at").notNull(),
});

export const webhookDeliveries = sqliteTable("webhook_deliveries", {
  deliveryId: integer("delivery_id").primaryKey(),
  webhookId: integer("webhook_id").notNull(),
  eventId: integer("event_id").notNull(),
  state: text().$type<"waiting" | "sending" | "delivered" | "failed">().notNull(),
  dueAt: integer("due_at"),
  server: text(),
  attempts: integer().notNull().default(0),
  failures: integer().notNull().default(0),
  tries: integer().notNull(),
  replay: integer({ mode: "boolean" }).notNull().default(false),
});

export const webhookAttempts = sqliteTable("webhook_attempts", {
  seq: integer().primaryKey(),
  deliveryId: integer("delivery_id").notNull(),
  webhookId: integer("webhook_id").notNull(),
  attempt: integer().notNull(),
  at: integer().notNull(),
  durationMs: integer("duration_ms").notNull(),
  httpStatus: integer("http_status"),
  error: text(),
  response: text(),
});

export const alerts = sqliteTable("alerts", {
  seq: integer().primaryKey(),
  kind: text().$type<AlertKind>().notNull(),
  subject: text().notNull(),
  message: text().notNull(),
  raisedAt: integer("raised_at").notNull(),
  resolvedAt: integer("resolved_at"),
  toldAmount: integer("told_amount").notNull().default(0),
  toldAt: integer("told_at"),
});
