// Lists all tables of the database. The other files of this folder define them: columns, keys, locks and row types.

import type { AnyTable } from "../port/table-definition.ts";
import { administrators, audit, panelSignIns, savedViews } from "./administrators.ts";
import { categoryOrder, grants, serviceChanges, serviceRoutes, services } from "./catalogue.ts";
import { idempotency, servers, uptime } from "./database.ts";
import { attempts, orderCosts, unrecognizedNumbers } from "./delivery.ts";
import { importedServices, importedUsers, panelImport, pastOrders } from "./imports.ts";
import { billingDetails, invoiceItems, invoices, invoiceSettings } from "./invoices.ts";
import { accounts, transferDetails, transfers } from "./ledger.ts";
import { mails, mailSettings } from "./mails.ts";
import {
  inspections,
  members,
  portalNotices,
  portalSettings,
  portalSignIns,
  registrations,
} from "./members.ts";
import { lateReports, orderEvents, orderRequests, orders, resentOrders } from "./orders.ts";
import {
  paymentAttachments,
  paymentEvents,
  paymentMethodResellers,
  paymentMethods,
  payments,
  paymentSurpluses,
  paymentTransfers,
} from "./payments.ts";
import { providerBalances, providerRates, providers } from "./providers.ts";
import { dailyTotals, hourlySpend, moneyTotals, totalsPosition } from "./reports.ts";
import { confirmations } from "./sign-ins.ts";
import {
  keyRecharges,
  keyRequests,
  keys,
  limitUse,
  resellerLimits,
  userContacts,
  users,
} from "./users.ts";
import { alerts, webhookAttempts, webhookDeliveries, webhookEvents, webhooks } from "./webhooks.ts";

/** All tables, in the order in which a batch writes them: each comes after the tables that it refers to. */
export const TABLES: readonly AnyTable[] = [
  accounts,
  users,
  userContacts,
  providers,
  services,
  serviceRoutes,
  grants,
  categoryOrder,
  serviceChanges,
  keys,
  keyRecharges,
  keyRequests,
  resellerLimits,
  limitUse,
  panelImport,
  importedUsers,
  importedServices,
  pastOrders,
  orders,
  resentOrders,
  attempts,
  lateReports,
  unrecognizedNumbers,
  orderEvents,
  orderRequests,
  transfers,
  transferDetails,
  invoiceSettings,
  billingDetails,
  invoices,
  invoiceItems,
  idempotency,
  uptime,
  servers,
  audit,
  webhooks,
  webhookEvents,
  webhookDeliveries,
  webhookAttempts,
  providerRates,
  providerBalances,
  orderCosts,
  dailyTotals,
  hourlySpend,
  moneyTotals,
  totalsPosition,
  alerts,
  administrators,
  savedViews,
  panelSignIns.codes,
  panelSignIns.sessions,
  inspections,
  panelSignIns.networks,
  panelSignIns.attempts,
  members,
  portalSignIns.codes,
  portalSignIns.sessions,
  portalSignIns.networks,
  portalSignIns.attempts,
  registrations,
  portalSettings,
  portalNotices,
  mails,
  mailSettings,
  paymentMethods,
  paymentMethodResellers,
  payments,
  paymentEvents,
  paymentTransfers,
  paymentAttachments,
  paymentSurpluses,
  confirmations,
];
