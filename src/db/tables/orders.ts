// Tables of orders. All rows of an order are written under the lock of its account. Only tables whose rows contain the
// account state that lock here.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { PriceUnit } from "../../domain/catalogue/services.ts";
import type { Placement } from "../../domain/delivery/deliveries.ts";
import type { LateDecision } from "../../domain/orders/late-reports.ts";
import type { RequestKind, RequestState } from "../../domain/orders/order-requests.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { type NewRowOf, type RowOf, table } from "../port/table-definition.ts";

export const orders = table(
  "orders",
  {
    /** The order number. Numbers only grow. */
    orderId: integer().primaryKey(),
    id: text().notNull(),
    resellerAccount: integer().notNull(),
    serviceId: text().notNull(),
    serviceName: text().notNull(),
    priceMicros: integer().notNull(),
    per: text().$type<PriceUnit>().notNull(),
    link: text().notNull(),
    quantity: integer().notNull(),
    chargeMicros: integer().notNull(),
    refundedMicros: integer().notNull().default(0),
    status: text().$type<OrderStatus>().notNull(),
    startCount: integer().notNull().default(0),
    remains: integer().notNull(),
    createdAt: integer().notNull(),
    providerId: integer(),
    providerService: text(),
    placement: text().$type<Placement>().notNull(),
    providerOrder: text(),
    reported: text().$type<OrderStatus>(),
    nextSubmitAt: integer(),
    nextPollAt: integer(),
    polledAt: integer(),
    changedAt: integer(),
    reference: text(),
    /** The number of its events so far: transitions and changes of progress. */
    sequence: integer().notNull().default(0),
    /** OrderExtra as JSON; null: the order has only a link and a quantity. */
    extra: text(),
  },
  {
    key: ["orderId"],
    numberField: "orderId",
    unique: { byId: ["id"], byReference: ["resellerAccount", "reference"] },
    lock: ({ resellerAccount }) => resellerAccount,
  },
);

export type OrderRow = RowOf<typeof orders>;

export const orderEvents = table(
  "order_events",
  {
    seq: integer().primaryKey(),
    orderId: integer().notNull(),
    fromStatus: text().$type<OrderStatus>().notNull(),
    toStatus: text().$type<OrderStatus>().notNull(),
    keyId: text(),
    operator: text(),
    note: text(),
    createdAt: integer().notNull(),
  },
  { key: ["seq"], numberField: "seq" },
);

export const lateReports = table(
  "late_reports",
  {
    orderId: integer().notNull(),
    reported: text().$type<OrderStatus>().notNull(),
    status: text().$type<OrderStatus>().notNull(),
    createdAt: integer().notNull(),
    remains: integer(),
    decision: text().$type<LateDecision>(),
    decidedAt: integer(),
  },
  { key: ["orderId", "reported"] },
);

/** The failed orders that the operator sent again. An order is sent again at most once. */
export const resentOrders = table(
  "resent_orders",
  {
    orderId: integer().notNull(),
    /** The order that was placed for it. */
    resentAs: integer().notNull(),
  },
  { key: ["orderId"], unique: { byNewOrder: ["resentAs"] } },
);

/** SQL condition for open requests. It is also the condition of their partial index, so that the index is used. */
export const OPEN_REQUEST_CONDITION =
  "(state = 'requested' OR state = 'sent' OR state = 'accepted')";

export const orderRequests = table(
  "order_requests",
  {
    requestId: integer().primaryKey(),
    id: text().notNull(),
    orderId: integer().notNull(),
    resellerAccount: integer().notNull(),
    kind: text().$type<RequestKind>().notNull(),
    state: text().$type<RequestState>().notNull(),
    providerId: integer(),
    unknown: integer({ mode: "boolean" }).notNull().default(false),
    server: text(),
    providerRefill: text(),
    nextAt: integer(),
    tries: integer().notNull().default(0),
    note: text(),
    keyId: text(),
    createdAt: integer().notNull(),
    sentAt: integer(),
    changedAt: integer().notNull(),
    /** The member that made it, if no key did. */
    operator: text(),
  },
  {
    key: ["requestId"],
    numberField: "requestId",
    unique: { byId: ["id"], byOpen: ["orderId", "kind"] },
    where: {
      byOpen: {
        text: OPEN_REQUEST_CONDITION,
        holds: ({ state }) => state === "requested" || state === "sent" || state === "accepted",
      },
    },
    lock: ({ resellerAccount }) => resellerAccount,
  },
);

export type OrderRequest = RowOf<typeof orderRequests>;

export type NewOrderRequest = NewRowOf<typeof orderRequests>;
