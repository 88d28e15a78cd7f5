// The drizzle schema of all tables, for both engines. Constraints (CHECK, UNIQUE, triggers) are in migrations/sqlite/.

import { customType, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuditAction } from "../../domain/administrators/audit.ts";
import type { KeyScope, KeyType } from "../../domain/users/keys.ts";
import type { TransferKind } from "../../domain/ledger/ledger.ts";
import type { LateDecision } from "../../domain/orders/late-reports.ts";
import type { OrderStatus } from "../../domain/orders/orders.ts";
import type { AttemptOutcome, Placement } from "../../domain/delivery/deliveries.ts";
import { REFILL_DAYS_DEFAULT } from "../../domain/orders/order-requests.ts";
import { DEFAULT_SERVICE_TYPE, type ServiceType } from "../../domain/catalogue/service-types.ts";
import {
  type NewServices,
  SYNC_DEACTIVATION_LIMIT,
  SYNC_PRICE_LIMIT,
} from "../../domain/providers/providers.ts";
import type { PausedBy } from "../../domain/providers/provider-pauses.ts";
import { DEFAULT_CATEGORY, type PriceUnit } from "../../domain/catalogue/services.ts";

/** An integer that may exceed 2^53. Engines read it as a bigint (db/port/table-definition.ts). */
const bigInteger = customType<{ data: bigint; driverData: bigint }>({
  dataType: () => "integer",
});

export const accounts = sqliteTable("accounts", {
  account: integer().primaryKey(),
  kind: text().$type<"cash" | "sales" | "user">().notNull(),
});

export const users = sqliteTable("users", {
  account: integer().primaryKey(),
  id: text().notNull(),
  username: text().notNull(),
  name: text().notNull(),
  parentAccount: integer("parent_account"),
  balanceMicros: bigInteger("balance_micros").notNull().default(0n),
  depositedMicros: bigInteger("deposited_micros").notNull().default(0n),
  createdAt: integer("created_at").notNull(),
  wantedEvents: integer("wanted_events").notNull().default(0),
  lowBalanceMicros: integer("low_balance_micros"),
  testOf: integer("test_of"),
  active: integer({ mode: "boolean" }).notNull().default(true),
  erasedAt: integer("erased_at"),
  discountPpm: integer("discount_ppm").notNull().default(0),
});

export const keys = sqliteTable("keys", {
  id: text().primaryKey(),
  resellerAccount: integer("reseller_account").notNull(),
  hash: text().notNull(),
  start: text().notNull(),
  type: text().$type<KeyType>().notNull(),
  reach: text().$type<KeyScope>().notNull(),
  label: text().notNull(),
  active: integer({ mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at"),
  allow: text().notNull().default(""),
  lastUsedAt: integer("last_used_at"),
  replacedBy: text("replaced_by"),
  ended: integer({ mode: "boolean" }).notNull().default(false),
  testOf: integer("test_of"),
  suspended: integer({ mode: "boolean" }).notNull().default(false),
  lastAddress: text("last_address"),
  rechargeLimitMicros: integer("recharge_limit_micros"),
  rechargeDailyMicros: integer("recharge_daily_micros"),
  originId: text("origin_id"),
  rechargeRefusedAt: integer("recharge_refused_at"),
});

export const keyRecharges = sqliteTable(
  "key_recharges",
  {
    keyId: text("key_id").notNull(),
    day: integer().notNull(),
    rechargedMicros: bigInteger("recharged_micros").notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day] })],
);

export const providers = sqliteTable("providers", {
  providerId: integer("provider_id").primaryKey(),
  name: text().notNull(),
  protocol: text().notNull(),
  url: text().notNull(),
  key: text().notNull(),
  lastSuccessAt: integer("last_success_at"),
  outOfFundsAt: integer("out_of_funds_at"),
  createdAt: integer("created_at").notNull(),
  rateToUsd: text("rate_to_usd").notNull().default("1"),
  currency: text(),
  foreignCurrency: text("foreign_currency"),
  active: integer({ mode: "boolean" }).notNull().default(true),
  markup: text(),
  syncEvery: integer("sync_every"),
  syncPriceLimit: text("sync_price_limit").notNull().default(SYNC_PRICE_LIMIT),
  syncDeactivationLimit: integer("sync_deactivation_limit")
    .notNull()
    .default(SYNC_DEACTIVATION_LIMIT),
  syncNew: text("sync_new").$type<NewServices>().notNull().default("public"),
  readableIds: integer("readable_ids", { mode: "boolean" }).notNull().default(false),
  syncedAt: integer("synced_at"),
  syncHeld: text("sync_held"),
  lowBalanceMicros: integer("low_balance_micros"),
  balanceMicros: integer("balance_micros"),
  balanceCurrency: text("balance_currency"),
  balanceAt: integer("balance_at"),
  balanceAskedAt: integer("balance_asked_at"),
  unknownInRow: integer("unknown_in_row").notNull().default(0),
  pausedAt: integer("paused_at"),
  pausedBy: text("paused_by").$type<PausedBy>(),
  pauseAsks: integer("pause_asks").notNull().default(0),
});

export const services = sqliteTable("services", {
  number: integer().primaryKey(),
  id: text().notNull(),
  name: text().notNull(),
  category: text().notNull().default(DEFAULT_CATEGORY),
  priceMicros: integer("price_micros").notNull(),
  per: text().$type<PriceUnit>().notNull(),
  min: integer().notNull(),
  max: integer().notNull(),
  active: integer({ mode: "boolean" }).notNull(),
  private: integer({ mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  providerId: integer("provider_id"),
  providerService: text("provider_service"),
  providerPriority: integer("provider_priority").notNull().default(0),
  nameByHand: integer("name_by_hand", { mode: "boolean" }).notNull(),
  categoryByHand: integer("category_by_hand", { mode: "boolean" }).notNull().default(false),
  priceByHand: integer("price_by_hand", { mode: "boolean" }).notNull(),
  minByHand: integer("min_by_hand", { mode: "boolean" }).notNull(),
  maxByHand: integer("max_by_hand", { mode: "boolean" }).notNull(),
  delisted: integer("vanished", { mode: "boolean" }).notNull(),
  cancel: integer({ mode: "boolean" }).notNull().default(false),
  refill: integer({ mode: "boolean" }).notNull().default(false),
  refillDays: integer("refill_days").notNull().default(REFILL_DAYS_DEFAULT),
  cancelByHand: integer("cancel_by_hand", { mode: "boolean" }).notNull().default(false),
  refillByHand: integer("refill_by_hand", { mode: "boolean" }).notNull().default(false),
  type: text().$type<ServiceType>().notNull().default(DEFAULT_SERVICE_TYPE),
  dripfeed: integer({ mode: "boolean" }).notNull().default(false),
  typeByHand: integer("type_by_hand", { mode: "boolean" }).notNull().default(false),
  dripfeedByHand: integer("dripfeed_by_hand", { mode: "boolean" }).notNull().default(false),
  suspended: integer({ mode: "boolean" }).notNull().default(false),
  isRouteDelisted: integer("route_delisted", { mode: "boolean" }).notNull().default(false),
});

export const grants = sqliteTable(
  "grants",
  {
    serviceId: text("service_id").notNull(),
    resellerAccount: integer("reseller_account").notNull(),
    priceMicros: integer("price_micros"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.serviceId, table.resellerAccount] })],
);

export const serviceChanges = sqliteTable("service_changes", {
  seq: integer().primaryKey(),
  at: integer().notNull(),
  serviceId: text("service_id"),
  resellerAccount: integer("reseller_account"),
  /** OfferedTerms as JSON. */
  before: text(),
  after: text(),
  /** OwnTerms as JSON. */
  ownBefore: text("own_before"),
  ownAfter: text("own_after"),
});

export const catalogueVersion = sqliteTable("catalogue_version", {
  id: integer().primaryKey(),
  version: integer().notNull(),
});

export const orders = sqliteTable("orders", {
  orderId: integer("order_id").primaryKey(),
  id: text().notNull(),
  resellerAccount: integer("reseller_account").notNull(),
  serviceId: text("service_id").notNull(),
  serviceName: text("service_name").notNull(),
  priceMicros: integer("price_micros").notNull(),
  per: text().$type<PriceUnit>().notNull(),
  link: text().notNull(),
  quantity: integer().notNull(),
  chargeMicros: integer("charge_micros").notNull(),
  refundedMicros: integer("refunded_micros").notNull().default(0),
  status: text().$type<OrderStatus>().notNull(),
  startCount: integer("start_count").notNull().default(0),
  remains: integer().notNull(),
  createdAt: integer("created_at").notNull(),
  providerId: integer("provider_id"),
  providerService: text("provider_service"),
  placement: text().$type<Placement>().notNull(),
  providerOrder: text("provider_order"),
  reported: text().$type<OrderStatus>(),
  nextSubmitAt: integer("next_place_at"),
  nextPollAt: integer("next_check_at"),
  polledAt: integer("checked_at"),
  changedAt: integer("changed_at"),
  reference: text(),
  sequence: integer().notNull().default(0),
  /** OrderExtra as JSON. */
  extra: text(),
});

export const placementAttempts = sqliteTable("placement_attempts", {
  attemptId: integer("attempt_id").primaryKey(),
  orderId: integer("order_id").notNull(),
  outcome: text().$type<AttemptOutcome>().notNull(),
  cause: text(),
  startedAt: integer("started_at").notNull(),
  finishedAt: integer("finished_at"),
  server: text(),
  providerId: integer("provider_id").notNull(),
  providerService: text("provider_service").notNull(),
});

export const lateReports = sqliteTable(
  "late_reports",
  {
    orderId: integer("order_id").notNull(),
    reported: text().$type<OrderStatus>().notNull(),
    status: text().$type<OrderStatus>().notNull(),
    createdAt: integer("created_at").notNull(),
    remains: integer(),
    decision: text().$type<LateDecision>(),
    decidedAt: integer("decided_at"),
  },
  (table) => [primaryKey({ columns: [table.orderId, table.reported] })],
);

export const unrecognizedNumbers = sqliteTable("unrecognized_numbers", {
  orderId: integer("order_id").primaryKey(),
  providerOrder: text("provider_order").notNull(),
  cause: text().notNull(),
  createdAt: integer("created_at").notNull(),
});

export const orderEvents = sqliteTable("order_events", {
  seq: integer().primaryKey(),
  orderId: integer("order_id").notNull(),
  fromStatus: text("from_status").$type<OrderStatus>().notNull(),
  toStatus: text("to_status").$type<OrderStatus>().notNull(),
  keyId: text("key_id"),
  operator: text(),
  note: text(),
  createdAt: integer("created_at").notNull(),
});

export const transfers = sqliteTable("transfers", {
  seq: integer().primaryKey(),
  debitAccount: integer("debit_account").notNull(),
  creditAccount: integer("credit_account").notNull(),
  amountMicros: integer("amount_micros").notNull(),
  kind: text().$type<TransferKind>().notNull(),
  orderId: integer("order_id"),
  keyId: text("key_id"),
  operator: text(),
  note: text(),
  createdAt: integer("created_at").notNull(),
  balanceAfterMicros: bigInteger("balance_after_micros").notNull(),
});

export const transferDetails = sqliteTable("transfer_details", {
  seq: integer().primaryKey(),
  account: integer().notNull(),
  reference: text(),
  publicNote: text("public_note"),
});

export const idempotency = sqliteTable("idempotency", {
  seq: integer().primaryKey(),
  resellerAccount: integer("reseller_account").notNull(),
  key: text().notNull(),
  requestHash: text("request_hash").notNull(),
  orderId: integer("order_id"),
  transferSeq: integer("transfer_seq"),
  responseStatus: integer("answer_status"),
  responseBody: text("answer_body"),
  results: text(),
  createdAt: integer("created_at").notNull(),
  uptime: integer().notNull().default(0),
});

export const uptime = sqliteTable("uptime", {
  id: integer().primaryKey(),
  milliseconds: integer().notNull(),
});

export const clockSteps = sqliteTable(
  "clock_steps",
  {
    ledger: text().$type<"orders" | "transfers">().notNull(),
    first: integer().notNull(),
    time: integer().notNull(),
    timeBefore: integer("time_before").notNull(),
  },
  (table) => [primaryKey({ columns: [table.ledger, table.first] })],
);

export const numberFloors = sqliteTable("number_floors", {
  tableName: text("table_name").primaryKey(),
  floor: integer().notNull(),
});

export const audit = sqliteTable("audit", {
  seq: integer().primaryKey(),
  createdAt: integer("created_at").notNull(),
  keyId: text("key_id"),
  operator: text(),
  action: text().$type<AuditAction>().notNull(),
  subject: text().notNull(),
  account: integer(),
  /** AuditFacts as JSON. */
  before: text(),
  after: text(),
});

/** The running server processes of this database. */
export const servers = sqliteTable("servers", {
  id: text().primaryKey(),
  name: text().notNull(),
  startedAt: integer("started_at").notNull(),
  leaseUntil: integer("lease_until").notNull(),
});

export * from "./cost-schema.ts";
export * from "./order-request-schema.ts";
export * from "./panel-schema.ts";
export * from "./route-schema.ts";
export * from "./outbox-schema.ts";
