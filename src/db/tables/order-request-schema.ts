// The drizzle schema of requests for orders: see schema.ts.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { RequestKind, RequestState } from "../../domain/orders/order-requests.ts";

export const orderRequests = sqliteTable("order_requests", {
  requestId: integer("request_id").primaryKey(),
  id: text().notNull(),
  orderId: integer("order_id").notNull(),
  resellerAccount: integer("reseller_account").notNull(),
  kind: text().$type<RequestKind>().notNull(),
  state: text().$type<RequestState>().notNull(),
  providerId: integer("provider_id"),
  unknown: integer({ mode: "boolean" }).notNull().default(false),
  server: text(),
  providerRefill: text("provider_refill"),
  nextAt: integer("next_at"),
  tries: integer().notNull().default(0),
  note: text(),
  keyId: text("key_id").notNull(),
  createdAt: integer("created_at").notNull(),
  sentAt: integer("sent_at"),
  changedAt: integer("changed_at").notNull(),
});
