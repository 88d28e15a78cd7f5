// Tables of the totals that reports use. They are written under a lock of the row of totals_position.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { MoneyFlow, TransferKind } from "../../domain/ledger/ledger.ts";
import { bigInteger, table } from "../port/table-definition.ts";

export const dailyTotals = table(
  "daily_totals",
  {
    kind: text().$type<"service" | "reseller" | "provider">().notNull(),
    day: integer().notNull(),
    key: text().notNull(),
    orders: integer().notNull(),
    revenueMicros: bigInteger().notNull(),
    refundsMicros: bigInteger().notNull(),
    costMicros: bigInteger().notNull(),
  },
  { key: ["kind", "day", "key"] },
);

export const hourlySpend = table(
  "hourly_spend",
  {
    hour: integer().notNull(),
    account: integer().notNull(),
    chargedMicros: bigInteger().notNull(),
    refundedMicros: bigInteger().notNull(),
  },
  { key: ["hour", "account"] },
);

export const moneyTotals = table(
  "money_totals",
  {
    day: integer().notNull(),
    flow: text().$type<MoneyFlow>().notNull(),
    kind: text().$type<TransferKind>().notNull(),
    source: text().notNull(),
    transfers: integer().notNull(),
    amountMicros: bigInteger().notNull(),
  },
  { key: ["day", "flow", "kind", "source"] },
);

export const totalsPosition = table(
  "totals_position",
  {
    id: integer().primaryKey(),
    orders: integer().notNull().default(0),
    transfers: integer().notNull().default(0),
    costs: integer().notNull().default(0),
    goalOrders: integer().notNull().default(0),
    goalTransfers: integer().notNull().default(0),
    goalCosts: integer().notNull().default(0),
    goalTransaction: integer().notNull().default(0),
  },
  { key: ["id"] },
);
