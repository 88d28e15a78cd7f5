// Every command by name. Each is one function of a file in operations/.

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
} from "../administrators/administrators.ts";
import {
  beginProof,
  beginSignIn,
  endAttempt,
  endSession,
  noteSession,
  openSession,
  passCode,
  proveAgain,
  takeConfirmation,
} from "../administrators/sign-ins.ts";
import { adjustBalance, creditUser, debitUser } from "../ledger/adjustments.ts";
import {
  createAlertEndpoint,
  deleteAlertEndpoint,
  recordAlerts,
  recordOutage,
  testAlertEndpoint,
} from "../webhooks/alerts.ts";
import { expireIdempotencyRecords, recordResponse } from "./idempotency.ts";
import {
  createKey,
  deactivateKeys,
  endExpiredKeys,
  recordKeyUsage,
  rotateKey,
  setKeyActive,
  updateKey,
} from "../users/keys.ts";
import {
  transitionOrder,
  noteOrder,
  placeOrder,
  placeOrderOnce,
  progressOrder,
} from "../orders/orders.ts";
import { countDailyTotals } from "../reports/daily-totals.ts";
import { clampSchedules, finishAttempt, startAttempt } from "../delivery/deliveries.ts";
import {
  deleteProvider,
  holdSync,
  setProviderActive,
  setProviderPaused,
} from "../providers/provider-states.ts";
import { recordProviderBalance, takeDueBalances } from "../providers/provider-balances.ts";
import {
  createProvider,
  noteProviderSuccess,
  syncCatalogue,
  updateProvider,
} from "../providers/providers.ts";
import { passRoute } from "../delivery/passed-orders.ts";
import { eraseHistory, eraseUser } from "../users/erasures.ts";
import { probe } from "./probe.ts";
import { placeOrders, placeOrdersOnce } from "../orders/order-batches.ts";
import { recharge, rechargeOnce } from "../ledger/recharges.ts";
import { recordReports, takeDuePolls } from "../delivery/polling.ts";
import { carryOver, skipSequences } from "./restore.ts";
import { importGrants } from "../catalogue/grants.ts";
import { acceptLateReport, dismissLateReports } from "../orders/late-reports.ts";
import { endLease, renewLease } from "./server-leases.ts";
import { putRoute, removeRoute } from "../catalogue/service-routes.ts";
import { settleOrder } from "../delivery/unknown-settlement.ts";
import {
  changePrices,
  createService,
  deleteService,
  grantService,
  revokeService,
  updateService,
} from "../catalogue/services.ts";
import { setServiceActive } from "../catalogue/service-states.ts";
import { importServices } from "../catalogue/service-import.ts";
import { markInterruptedUnknown } from "../delivery/mark-unknown.ts";
import {
  finishRequest,
  markRequestsUnknown,
  recordRefillReports,
  startRequest,
  takeDueRefills,
} from "../delivery/order-request-deliveries.ts";
import {
  decideRequest,
  makeRequest,
  makeRequestOnce,
  makeRequests,
} from "../orders/order-requests.ts";
import { transitionTestOrder } from "../orders/test-orders.ts";
import { sendTestEvent } from "../webhooks/test-webhooks.ts";
import { addUptime } from "./uptime.ts";
import { addUser, createUser, setDiscount, setUserActive, updateUser } from "../users/users.ts";
import {
  recordWebhookAttempts,
  releaseWebhookDeliveries,
  takeDueWebhookDeliveries,
} from "../webhooks/webhook-deliveries.ts";
import { expireWebhooks } from "../webhooks/webhook-expiry.ts";
import { replayWebhook } from "../webhooks/webhook-replays.ts";
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
} from "../webhooks/webhooks.ts";

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
  setProviderPaused,
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
  beginProof,
  openSession,
  passCode,
  proveAgain,
  noteSession,
  endSession,
  endAttempt,
  takeConfirmation,
  probe,
};
