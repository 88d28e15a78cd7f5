// Every table with its unique indexes and the account lock under which its rows are written. A lock is always the row
// of an account: the user's own for what belongs to a user, otherwise CATALOGUE_LOCK.

import { CASH_ACCOUNT, SALES_ACCOUNT } from "../../domain/ledger/ledger.ts";
import * as schema from "./schema.ts";
import { type AnyTable, table } from "../port/table-definition.ts";

/** The lock for what operators change: services, grants, providers and new users. */
export const CATALOGUE_LOCK = CASH_ACCOUNT;

/** The lock of the webhook queue. Taking deliveries and recording attempts never waits for a reseller's orders. */
export const WEBHOOK_QUEUE_LOCK = SALES_ACCOUNT;

const catalogue = () => CATALOGUE_LOCK;

export const accounts = table(schema.accounts, {
  key: ["account"],
  numbered: "account",
  lock: catalogue,
});

export const users = table(schema.users, {
  key: ["account"],
  unique: { byId: ["id"], byUsername: ["username"], byTestOf: ["testOf"] },
  folded: ["byUsername"],
  lock: ({ account }, isNew) => (isNew ? CATALOGUE_LOCK : account),
  coalesced: true,
  kept: true,
});

export const keys = table(schema.keys, {
  key: ["id"],
  unique: { byHash: ["hash"] },
  lock: ({ resellerAccount }) => resellerAccount,
  unlocked: ["lastUsedAt", "lastAddress"],
  kept: true,
});

/** Written under the lock of its key's account. */
export const keyRecharges = table(schema.keyRecharges, {
  key: ["keyId", "day"],
  coalesced: true,
});

export const providers = table(schema.providers, {
  key: ["providerId"],
  numbered: "providerId",
  unique: { byName: ["name"] },
  folded: ["byName"],
  lock: catalogue,
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
});

export const services = table(schema.services, {
  key: ["id"],
  numbered: "number",
  unique: { byNumber: ["number"] },
  lock: catalogue,
  kept: true,
});

export const serviceRoutes = table(schema.serviceRoutes, {
  key: ["serviceId", "providerId", "providerService"],
  lock: catalogue,
});

export const grants = table(schema.grants, {
  key: ["serviceId", "resellerAccount"],
  lock: catalogue,
  kept: true,
});

/** Numbered in the order of the commits, because all rows are written under one lock. */
export const serviceChanges = table(schema.serviceChanges, {
  key: ["seq"],
  numbered: "seq",
  lock: catalogue,
});

export const catalogueVersion = table(schema.catalogueVersion, { key: ["id"] });

export const orders = table(schema.orders, {
  key: ["orderId"],
  numbered: "orderId",
  unique: { byId: ["id"], byReference: ["resellerAccount", "reference"] },
  lock: ({ resellerAccount }) => resellerAccount,
});

// The rows of an order in the next tables are written together with the order, so under its account's lock.

export const attempts = table(schema.placementAttempts, {
  key: ["attemptId"],
  numbered: "attemptId",
  // Per order: one attempt that may have arrived or is being sent, and one refused attempt for each route.
  unique: { bySentOrder: ["orderId"], byRefusal: ["orderId", "providerId", "providerService"] },
  where: {
    bySentOrder: {
      text: "outcome <> 'not_sent' AND outcome <> 'refused'",
      holds: ({ outcome }) => outcome !== "not_sent" && outcome !== "refused",
    },
    byRefusal: { text: "outcome = 'refused'", holds: ({ outcome }) => outcome === "refused" },
  },
});

export const lateReports = table(schema.lateReports, { key: ["orderId", "reported"] });

export const unrecognizedNumbers = table(schema.unrecognizedNumbers, { key: ["orderId"] });

export const orderEvents = table(schema.orderEvents, { key: ["seq"], numbered: "seq" });

export const orderRequests = table(schema.orderRequests, {
  key: ["requestId"],
  numbered: "requestId",
  unique: { byId: ["id"], byOpen: ["orderId", "kind"] },
  where: {
    byOpen: {
      text: "(state = 'requested' OR state = 'sent' OR state = 'accepted')",
      holds: ({ state }) => state === "requested" || state === "sent" || state === "accepted",
    },
  },
  lock: ({ resellerAccount }) => resellerAccount,
});

export const transfers = table(schema.transfers, {
  key: ["seq"],
  numbered: "seq",
  unique: { onceAnOrder: ["orderId", "kind"] },
  lock: ({ debitAccount, creditAccount }) => Math.max(debitAccount, creditAccount),
});

/** Written together with their transfers. */
export const transferDetails = table(schema.transferDetails, {
  key: ["seq"],
  unique: { byReference: ["account", "reference"] },
  lock: ({ account }) => account,
});

export const idempotency = table(schema.idempotency, {
  key: ["seq"],
  numbered: "seq",
  unique: { byReseller: ["resellerAccount", "key"] },
  lock: ({ resellerAccount }) => resellerAccount,
});

export const uptime = table(schema.uptime, { key: ["id"], kept: true });

/** Exists only on SQLite. */
export const numberFloors = table(schema.numberFloors, { key: ["tableName"] });

/** Each server writes its own row. Any server may delete a row whose lease has ended. */
export const servers = table(schema.servers, { key: ["id"] });

export const audit = table(schema.audit, { key: ["seq"], numbered: "seq" });

export const webhooks = table(schema.webhooks, {
  key: ["webhookId"],
  numbered: "webhookId",
  unique: { byId: ["id"] },
  lock: ({ resellerAccount }) => resellerAccount ?? CATALOGUE_LOCK,
  // Written together with the attempts, under the queue's lock.
  unlocked: ["failures", "failingSince"],
});

export const webhookEvents = table(schema.webhookEvents, {
  key: ["eventId"],
  numbered: "eventId",
  unique: { byId: ["id"] },
});

export const webhookDeliveries = table(schema.webhookDeliveries, {
  key: ["deliveryId"],
  numbered: "deliveryId",
  unique: { byEvent: ["webhookId", "eventId"] },
  lock: (_, isNew) => (isNew ? null : WEBHOOK_QUEUE_LOCK),
});

export const webhookAttempts = table(schema.webhookAttempts, {
  key: ["seq"],
  numbered: "seq",
  unique: { byAttempt: ["deliveryId", "attempt"] },
});

export const providerRates = table(schema.providerRates, {
  key: ["providerId", "providerService", "afterOrder"],
  lock: catalogue,
});

/** Written with a change of the order, under its account's lock, or by the operator, under the catalogue's lock. */
export const orderCosts = table(schema.orderCosts, {
  key: ["seq"],
  numbered: "seq",
  unique: { byOrder: ["orderId", "number"] },
});

// Code that writes these two tables has locked the row of totals_position.

export const dailyTotals = table(schema.dailyTotals, { key: ["kind", "day", "key"] });

export const totalsPosition = table(schema.totalsPosition, { key: ["id"] });

export const alerts = table(schema.alerts, {
  key: ["seq"],
  numbered: "seq",
  unique: { byOpen: ["kind", "subject"] },
  where: {
    byOpen: { text: "resolved_at IS NULL", holds: (row) => row["resolvedAt"] === null },
  },
  lock: catalogue,
});

export const administrators = table(schema.administrators, {
  key: ["name"],
  unique: { byInvitation: ["invitationHash"] },
  lock: catalogue,
});

export const recoveryCodes = table(schema.recoveryCodes, {
  key: ["administrator", "hash"],
  lock: catalogue,
});

export const panelSessions = table(schema.panelSessions, {
  key: ["id"],
  lock: catalogue,
  unlocked: ["seenAt"],
});

export const knownNetworks = table(schema.knownNetworks, {
  key: ["administrator", "network"],
  lock: catalogue,
});

export const signInAttempts = table(schema.signInAttempts, {
  key: ["seq"],
  numbered: "seq",
  lock: catalogue,
});

export const confirmations = table(schema.confirmations, { key: ["id"], lock: catalogue });

/** All tables, in the order in which a batch writes them: each comes after the tables that it refers to. */
export const TABLES: readonly AnyTable[] = [
  accounts,
  users,
  providers,
  services,
  serviceRoutes,
  grants,
  serviceChanges,
  keys,
  keyRecharges,
  orders,
  attempts,
  lateReports,
  unrecognizedNumbers,
  orderEvents,
  orderRequests,
  transfers,
  transferDetails,
  idempotency,
  uptime,
  servers,
  audit,
  webhooks,
  webhookEvents,
  webhookDeliveries,
  webhookAttempts,
  providerRates,
  orderCosts,
  dailyTotals,
  totalsPosition,
  alerts,
  administrators,
  recoveryCodes,
  panelSessions,
  knownNetworks,
  signInAttempts,
  confirmations,
];
