// Routes of this folder.

import type { Action } from "../server/call.ts";
import { type ActionRoute, get, post, type Route } from "../server/route.ts";
import {
  alertsPage,
  createAlertEndpoint,
  deleteAlertEndpoint,
  testAlertEndpoint,
} from "./alerts.tsx";
import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  replayWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
  webhookPage,
} from "./webhook.tsx";
import { webhooksPage } from "./webhooks.tsx";

export const routes: readonly Route[] = [
  get("/users/:user/webhooks/:webhook", "support", webhookPage),
  webhookRoute("", updateWebhook),
  webhookRoute("/test", testWebhook),
  webhookRoute("/rotate", rotateWebhook),
  webhookRoute("/enable", enableWebhook),
  webhookRoute("/disable", disableWebhook),
  webhookRoute("/delete", deleteWebhook),
  webhookRoute("/replay", replayWebhook),
  get("/alerts", "support", alertsPage),
  post("/alerts", "owner", createAlertEndpoint, "/alerts"),
  post("/alerts/:endpoint/test", "owner", testAlertEndpoint, "/alerts"),
  post("/alerts/:endpoint/delete", "owner", deleteAlertEndpoint, "/alerts"),
  get("/webhooks", "support", webhooksPage),
];

function webhookRoute(path: string, action: Action): ActionRoute {
  const page = "/users/:user/webhooks/:webhook";
  return post(page + path, "operator", action, page);
}
