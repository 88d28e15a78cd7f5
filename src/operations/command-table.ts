// Every command, by name: one function of a file of this folder each.

import {
  acceptInvitation,
  enableSecondFactor,
  inviteAdministrator,
  offerSecondFactor,
  removeSecondFactor,
  revokeSessions,
  setAdministratorActive,
  setAdministratorPassword,
  setAdministratorRole,
} from "./administrators.ts";
import {
  beginSignIn,
  endAttempt,
  endSession,
  noteSession,
  openSession,
  passCode,
  proveAgain,
  takeConfirmation,
} from "./sign-ins.ts";
import { adjustBalance, creditUser, debitUser } from "./adjustments.ts";
import {
  createAlertEndpoint,
  deleteAlertEndpoint,
  recordAlerts,
  recordOutage,
  testAlertEndpoint,
} from "./alerts.ts";
import { expireIdempotencyRecords, recordResponse } from "./idempotency.ts";
import {
  createKey,
  deactivateKeys,
  endExpiredKeys,
  recordKeyUsage,
  rotateKey,
  setKeyActive,
  updateKey,
} from "./keys.ts";
import { transitionOrder, noteOrder, placeOrder, placeOrderOnce, progressOrder } from "./orders.ts";
import { countDailyTotals } from "./daily-totals.ts";
import { clampSchedules, finishAttempt, startAttempt } from "./deliveries.ts";
import { deleteProvider, holdSync, setProviderActive } from "./provider-states.ts";
import { recordProviderBalance, takeDueBalances } from "./provider-balances.ts";
import { createProvider, noteProviderSuccess, syncCatalogue, updateProvider } from "./providers.ts";
import { passRoute } from "./passed-orders.ts";
import { eraseHistory, eraseUser } from "./erasures.ts";
import { probe } from "./probe.ts";
import { placeOrders, placeOrdersOnce } from "./order-batches.ts";
import { recharge, rechargeOnce } from "./recharges.ts";
import { recordReports, takeDuePolls } from "./polling.ts";
import { carryOver, skipSequences } from "./restore.ts";
import { importGrants } from "./grants.ts";
import { acceptLateReport, dismissLateReports } from "./late-reports.ts";
import { endLease, renewLease } from "./server-leases.ts";
import { putRoute, removeRoute } from "./service-routes.ts";
import { settleOrder } from "./unknown-settlement.ts";
import {
  changePrices,
  createService,
  deleteService,
  grantService,
  revokeService,
  updateService,
} from "./services.ts";
import { setServiceActive } from "./service-states.ts";
import { importServices } from "./service-import.ts";
import { markInterruptedUnknown } from "./mark-unknown.ts";
import {
  finishRequest,
  markRequestsUnknown,
  recordRefillReports,
  startRequest,
  takeDueRefills,
} from "./order-request-deliveries.ts";
import { decideRequest, makeRequest, makeRequestOnce, makeRequests } from "./order-requests.ts";
import { transitionTestOrder } from "./test-orders.ts";
import { sendTestEvent } from "./test-webhooks.ts";
import { addUptime } from "./uptime.ts";
import { addUser, createUser, setDiscount, setUserActive, updateUser } from "./users.ts";
import {
  recordWebhookAttempts,
  releaseWebhookDeliveries,
  takeDueWebhookDeliveries,
} from "./webhook-deliveries.ts";
import { expireWebhooks } from "./webhook-expiry.ts";
import { replayWebhook } from "./webhook-replays.ts";
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
} from "./webhooks.ts";

export const commands = {
  createUser,
  updateUser,
  setUserActive,
  eraseUser,
  eraseHistory,
  creditUser,
  debitUser,
  setDiscount,
  addUser,
  adjustBalance,
  createKey,
  setKeyActive,
  updateKey,
  deactivateKeys,
  rotateKey,
  recordKeyUsage,
  createService,
  updateService,
  setServiceActive,
  changePrices,
  importServices,
  deleteService,
  grantService,
  importGrants,
  revokeService,
  putRoute,
  removeRoute,
  placeOrder,
  placeOrders,
  placeOrdersOnce,
  transitionOrder,
  transitionTestOrder,
  sendTestEvent,
  progressOrder,
  noteOrder,
  makeRequest,
  makeRequestOnce,
  makeRequests,
  decideRequest,
  startRequest,
  finishRequest,
  takeDueRefills,
  recordRefillReports,
  markRequestsUnknown,
  startAttempt,
  finishAttempt,
  passRoute,
  markInterruptedUnknown,
  settleOrder,
  acceptLateReport,
  dismissLateReports,
  takeDuePolls,
  recordReports,
  clampSchedules,
  createProvider,
  updateProvider,
  setProviderActive,
  deleteProvider,
  noteProviderSuccess,
  syncCatalogue,
  holdSync,
  recharge,
  placeOrderOnce,
  rechargeOnce,
  recordResponse,
  expireIdempotencyRecords,
  carryOver,
  skipSequences,
  addUptime,
  countDailyTotals,
  endExpiredKeys,
  renewLease,
  endLease,
  createWebhook,
  updateWebhook,
  deleteWebhook,
  enableWebhook,
  disableWebhook,
  rotateWebhook,
  testWebhook,
  replayWebhook,
  takeDueWebhookDeliveries,
  recordWebhookAttempts,
  releaseWebhookDeliveries,
  expireWebhooks,
  createAlertEndpoint,
  deleteAlertEndpoint,
  testAlertEndpoint,
  recordAlerts,
  recordOutage,
  takeDueBalances,
  recordProviderBalance,
  inviteAdministrator,
  acceptInvitation,
  setAdministratorPassword,
  setAdministratorRole,
  setAdministratorActive,
  revokeSessions,
  offerSecondFactor,
  enableSecondFactor,
  removeSecondFactor,
  beginSignIn,
  openSession,
  passCode,
  proveAgain,
  noteSession,
  endSession,
  endAttempt,
  takeConfirmation,
  probe,
};
