// Tables of what was imported from another panel. docs/specification/imports.md#moving-in.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { PastStatus } from "../../domain/orders/past-orders.ts";
import { type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

/** Has one row from the first import on. */
export const panelImport = table(
  "panel_import",
  {
    id: integer().primaryKey(),
    /** Orders with numbers up to this were imported. Later numbers are given here. */
    ordersThrough: integer().notNull(),
    startedAt: integer().notNull(),
    finishedAt: integer(),
    /** The import that is running; null: none. */
    runId: text(),
    /** Until when it counts as running. It renews this while it works. */
    runUntil: integer(),
  },
  { key: ["id"], lock: catalogueLock },
);

/** Users by their id in the other panel. */
export const importedUsers = table(
  "imported_users",
  {
    source: text().primaryKey(),
    account: integer().notNull(),
    /** The opening balance. */
    balanceMicros: integer().notNull(),
  },
  { key: ["source"], unique: { byAccount: ["account"] }, lock: catalogueLock },
);

export const importedServices = table(
  "imported_services",
  { number: integer().primaryKey() },
  { key: ["number"], lock: catalogueLock },
);

/** Orders that ended in the other panel. */
export const pastOrders = table(
  "past_orders",
  {
    orderId: integer().primaryKey(),
    resellerAccount: integer().notNull(),
    serviceNumber: integer().notNull(),
    serviceName: text().notNull(),
    link: text().notNull(),
    quantity: integer().notNull(),
    chargeMicros: integer().notNull(),
    status: text().$type<PastStatus>().notNull(),
    startCount: integer().notNull(),
    remains: integer().notNull(),
    createdAt: integer().notNull(),
    provider: text(),
    providerOrder: text(),
  },
  { key: ["orderId"], lock: catalogueLock },
);

export type PastOrder = RowOf<typeof pastOrders>;
