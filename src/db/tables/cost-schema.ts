// The drizzle schema of costs and of the daily totals that reports use: see schema.ts.

import { customType, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CostBasis, RateUnit } from "../../domain/delivery/costs.ts";

/** A sum of amounts, which may exceed 2^53. */
const sum = customType<{ data: bigint; driverData: bigint }>({ dataType: () => "integer" });

export const providerRates = sqliteTable(
  "provider_rates",
  {
    providerId: integer("provider_id").notNull(),
    providerService: text("provider_service").notNull(),
    afterOrder: integer("after_order").notNull(),
    rate: text().notNull(),
    unit: text().$type<RateUnit>().notNull(),
    createdAt: integer("created_at").notNull(),
    dripfeed: integer({ mode: "boolean" }),
  },
  (table) => [primaryKey({ columns: [table.providerId, table.providerService, table.afterOrder] })],
);

export const orderCosts = sqliteTable("order_costs", {
  seq: integer().primaryKey(),
  orderId: integer("order_id").notNull(),
  number: integer().notNull(),
  basis: text().$type<CostBasis>().notNull(),
  amount: text().notNull(),
  currency: text(),
  rateToUsd: text("rate_to_usd").notNull(),
  costMicros: integer("cost_micros").notNull(),
  changeMicros: integer("change_micros").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const dailyTotals = sqliteTable(
  "daily_totals",
  {
    kind: text().$type<"service" | "reseller" | "provider">().notNull(),
    day: integer().notNull(),
    key: text().notNull(),
    orders: integer().notNull(),
    revenueMicros: sum("revenue_micros").notNull(),
    refundsMicros: sum("refunds_micros").notNull(),
    costMicros: sum("cost_micros").notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.day, table.key] })],
);

export const totalsPosition = sqliteTable("totals_position", {
  id: integer().primaryKey(),
  orders: integer().notNull().default(0),
  transfers: integer().notNull().default(0),
  costs: integer().notNull().default(0),
  goalOrders: integer("goal_orders").notNull().default(0),
  goalTransfers: integer("goal_transfers").notNull().default(0),
  goalCosts: integer("goal_costs").notNull().default(0),
  goalTransaction: integer("goal_transaction").notNull().default(0),
});
