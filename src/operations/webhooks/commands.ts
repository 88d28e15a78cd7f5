// Commands of this folder, by name.

import { command, one } from "../batch/command.ts";
import {
  createAlertEndpoint,
  deleteAlertEndpoint,
  recordAlerts,
  recordOutage,
  testAlertEndpoint,
} from "./alerts.ts";
import { sendTestEvent } from "./test-webhooks.ts";
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
  sendTestEvent: command(sendTestEvent, { ids: one }),
  createWebhook: command(createWebhook, { ids: one }),
  updateWebhook: command(updateWebhook),
  deleteWebhook: command(deleteWebhook),
  enableWebhook: command(enableWebhook),
  disableWebhook: command(disableWebhook),
  rotateWebhook: command(rotateWebhook),
  testWebhook: command(testWebhook),
  replayWebhook: command(replayWebhook),
  takeDueWebhookDeliveries: command(takeDueWebhookDeliveries),
  recordWebhookAttempts: command(recordWebhookAttempts),
  releaseWebhookDeliveries: command(releaseWebhookDeliveries),
  expireWebhooks: command(expireWebhooks),
  createAlertEndpoint: command(createAlertEndpoint, { ids: one }),
  deleteAlertEndpoint: command(deleteAlertEndpoint),
  testAlertEndpoint: command(testAlertEndpoint),
  recordAlerts: command(recordAlerts),
  recordOutage: command(recordOutage),
};
