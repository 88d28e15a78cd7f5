// The drizzle schema of the routes of services: see schema.ts.

import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The further routes of a service. Its first route is in the service's own row. */
export const serviceRoutes = sqliteTable(
  "service_routes",
  {
    serviceId: text("service_id").notNull(),
    providerId: integer("provider_id").notNull(),
    providerService: text("provider_service").notNull(),
    priority: integer().notNull(),
    place: integer().notNull(),
    isDelisted: integer("delisted", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.serviceId, table.providerId, table.providerService] })],
);
