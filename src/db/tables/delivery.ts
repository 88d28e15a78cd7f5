// Tables of the delivery of orders. The rows of an order are written together with it, under its account's lock.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { CostBasis } from "../../domain/delivery/costs.ts";
import type { AttemptOutcome } from "../../domain/delivery/deliveries.ts";
import { table } from "../port/table-definition.ts";

export const attempts = table(
  "attempts",
  {
    attemptId: integer().primaryKey(),
    orderId: integer().notNull(),
    outcome: text().$type<AttemptOutcome>().notNull(),
    cause: text(),
    startedAt: integer().notNull(),
    finishedAt: integer(),
    server: text(),
    providerId: integer().notNull(),
    providerService: text().notNull(),
  },
  {
    key: ["attemptId"],
    numberField: "attemptId",
    // An order has at most one attempt that may have arrived or is being sent, and one refused attempt for each route.
    unique: { bySentOrder: ["orderId"], byRefusal: ["orderId", "providerId", "providerService"] },
    where: {
      bySentOrder: {
        text: "outcome <> 'not_sent' AND outcome <> 'refused'",
        holds: ({ outcome }) => outcome !== "not_sent" && outcome !== "refused",
      },
      byRefusal: { text: "outcome = 'refused'", holds: ({ outcome }) => outcome === "refused" },
    },
  },
);

export const unrecognizedNumbers = table(
  "unrecognized_numbers",
  {
    orderId: integer().primaryKey(),
    providerOrder: text().notNull(),
    cause: text().notNull(),
    createdAt: integer().notNull(),
  },
  { key: ["orderId"] },
);

/** Costs of orders, written with the order under its account's lock, or by the operator under the catalogue's lock. */
export const orderCosts = table(
  "order_costs",
  {
    seq: integer().primaryKey(),
    orderId: integer().notNull(),
    number: integer().notNull(),
    basis: text().$type<CostBasis>().notNull(),
    amount: text().notNull(),
    currency: text(),
    rateToUsd: text().notNull(),
    costMicros: integer().notNull(),
    changeMicros: integer().notNull(),
    createdAt: integer().notNull(),
  },
  {
    key: ["seq"],
    numberField: "seq",
    unique: { byOrder: ["orderId", "number"] },
  },
);
