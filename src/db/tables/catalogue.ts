// Tables of the catalogue.

import { integer, text } from "drizzle-orm/sqlite-core";
import { DEFAULT_SERVICE_TYPE, type ServiceType } from "../../domain/catalogue/service-types.ts";
import { DEFAULT_CATEGORY, type PriceUnit } from "../../domain/catalogue/services.ts";
import { REFILL_DAYS_DEFAULT } from "../../domain/orders/order-requests.ts";
import { type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

export const services = table(
  "services",
  {
    number: integer().primaryKey(),
    id: text().notNull(),
    name: text().notNull(),
    category: text().notNull().default(DEFAULT_CATEGORY),
    priceMicros: integer().notNull(),
    per: text().$type<PriceUnit>().notNull(),
    min: integer().notNull(),
    max: integer().notNull(),
    active: integer({ mode: "boolean" }).notNull(),
    private: integer({ mode: "boolean" }).notNull(),
    createdAt: integer().notNull(),
    providerId: integer(),
    providerService: text(),
    providerPriority: integer().notNull().default(0),
    nameByHand: integer({ mode: "boolean" }).notNull(),
    categoryByHand: integer({ mode: "boolean" }).notNull().default(false),
    priceByHand: integer({ mode: "boolean" }).notNull(),
    minByHand: integer({ mode: "boolean" }).notNull(),
    maxByHand: integer({ mode: "boolean" }).notNull(),
    /** Inactive because no provider lists it. */
    delisted: integer({ mode: "boolean" }).notNull(),
    cancel: integer({ mode: "boolean" }).notNull().default(false),
    refill: integer({ mode: "boolean" }).notNull().default(false),
    refillDays: integer().notNull().default(REFILL_DAYS_DEFAULT),
    cancelByHand: integer({ mode: "boolean" }).notNull().default(false),
    refillByHand: integer({ mode: "boolean" }).notNull().default(false),
    type: text().$type<ServiceType>().notNull().default(DEFAULT_SERVICE_TYPE),
    dripfeed: integer({ mode: "boolean" }).notNull().default(false),
    typeByHand: integer({ mode: "boolean" }).notNull().default(false),
    dripfeedByHand: integer({ mode: "boolean" }).notNull().default(false),
    /** Inactive because every provider that lists it is inactive. */
    suspended: integer({ mode: "boolean" }).notNull().default(false),
    /** The provider of its first route does not list it. */
    routeDelisted: integer({ mode: "boolean" }).notNull().default(false),
  },
  {
    key: ["id"],
    numberField: "number",
    unique: { byNumber: ["number"] },
    lock: catalogueLock,
    cacheable: true,
  },
);

/** The routes of services after the first. A service's first route is in its own row. */
export const serviceRoutes = table(
  "service_routes",
  {
    serviceId: text().notNull(),
    providerId: integer().notNull(),
    providerService: text().notNull(),
    priority: integer().notNull(),
    place: integer().notNull(),
    delisted: integer({ mode: "boolean" }).notNull().default(false),
  },
  {
    key: ["serviceId", "providerId", "providerService"],
    lock: catalogueLock,
  },
);

export type ServiceRouteRow = RowOf<typeof serviceRoutes>;

export const grants = table(
  "grants",
  {
    serviceId: text().notNull(),
    resellerAccount: integer().notNull(),
    priceMicros: integer(),
    createdAt: integer().notNull(),
  },
  {
    key: ["serviceId", "resellerAccount"],
    lock: catalogueLock,
    cacheable: true,
  },
);

/** Positions of categories in lists, from 1. Categories without a row follow by name. */
export const categoryOrder = table(
  "category_order",
  {
    category: text().primaryKey(),
    position: integer().notNull(),
  },
  { key: ["category"], lock: catalogueLock },
);

/** Changes of services and grants, numbered in the order of the commits, because one lock protects all rows. */
export const serviceChanges = table(
  "service_changes",
  {
    seq: integer().primaryKey(),
    at: integer().notNull(),
    serviceId: text(),
    resellerAccount: integer(),
    /** OfferedTerms as JSON. */
    before: text(),
    after: text(),
    /** OwnTerms as JSON. */
    ownBefore: text(),
    ownAfter: text(),
  },
  {
    key: ["seq"],
    numberField: "seq",
    lock: catalogueLock,
  },
);

export const catalogueVersion = table(
  "catalogue_version",
  {
    id: integer().primaryKey(),
    version: integer().notNull(),
  },
  { key: ["id"] },
);
