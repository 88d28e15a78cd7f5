// Tables of providers.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { RateUnit } from "../../domain/delivery/costs.ts";
import {
  HOLD_DEFAULT_MICROS,
  HOLD_DEFAULT_MS,
  type NoFundsAction,
} from "../../domain/providers/fund-holds.ts";
import type { PriceRounding } from "../../domain/providers/pricing.ts";
import type { PausedBy } from "../../domain/providers/provider-pauses.ts";
import {
  type NewServices,
  SYNC_DEACTIVATION_LIMIT,
  SYNC_PRICE_LIMIT,
} from "../../domain/providers/providers.ts";
import { table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

export const providers = table(
  "providers",
  {
    providerId: integer().primaryKey(),
    name: text().notNull(),
    protocol: text().notNull(),
    url: text().notNull(),
    key: text().notNull(),
    lastSuccessAt: integer(),
    outOfFundsAt: integer(),
    createdAt: integer().notNull(),
    rateToUsd: text().notNull().default("1"),
    currency: text(),
    foreignCurrency: text(),
    active: integer({ mode: "boolean" }).notNull().default(true),
    markup: text(),
    syncEvery: integer(),
    syncPriceLimit: text().notNull().default(SYNC_PRICE_LIMIT),
    syncDeactivationLimit: integer().notNull().default(SYNC_DEACTIVATION_LIMIT),
    syncNew: text().$type<NewServices>().notNull().default("public"),
    readableIds: integer({ mode: "boolean" }).notNull().default(false),
    syncedAt: integer(),
    syncHeld: text(),
    lowBalanceMicros: integer(),
    balanceMicros: integer(),
    balanceCurrency: text(),
    balanceAt: integer(),
    balanceAskedAt: integer(),
    unknownInRow: integer().notNull().default(0),
    pausedAt: integer(),
    pausedBy: text().$type<PausedBy>(),
    pausedUntil: integer(),
    pauseAsks: integer().notNull().default(0),
    onNoFunds: text().$type<NoFundsAction>().notNull().default("refund"),
    holdMs: integer().notNull().default(HOLD_DEFAULT_MS),
    holdLimitMicros: integer().notNull().default(HOLD_DEFAULT_MICROS),
    heldUntil: integer(),
    roundPrices: text().$type<PriceRounding>().notNull().default("none"),
    categoryMarkups: text().notNull().default("{}"),
  },
  {
    key: ["providerId"],
    numberField: "providerId",
    unique: { byName: ["name"] },
    folded: ["byName"],
    lock: catalogueLock,
    unlocked: [
      "lastSuccessAt",
      "outOfFundsAt",
      "currency",
      "foreignCurrency",
      "balanceMicros",
      "balanceCurrency",
      "balanceAt",
      "unknownInRow",
      "pauseAsks",
    ],
  },
);

export const providerRates = table(
  "provider_rates",
  {
    providerId: integer().notNull(),
    providerService: text().notNull(),
    afterOrder: integer().notNull(),
    rate: text().notNull(),
    unit: text().$type<RateUnit>().notNull(),
    createdAt: integer().notNull(),
    dripfeed: integer({ mode: "boolean" }).notNull(),
  },
  {
    key: ["providerId", "providerService", "afterOrder"],
    lock: catalogueLock,
  },
);

export const providerBalances = table(
  "provider_balances",
  {
    providerId: integer().notNull(),
    at: integer().notNull(),
    balanceMicros: integer().notNull(),
    currency: text(),
  },
  { key: ["providerId", "at"], lock: catalogueLock },
);
