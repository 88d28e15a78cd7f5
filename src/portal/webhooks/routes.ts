// Routes of this folder.

import type { Action } from "../server/call.ts";
import { get, post, type Route } from "../server/route.ts";
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
import { createWebhook } from "./webhooks.tsx";

const PAGE = "/api/webhooks/:webhook";
const ofWebhook = (path: string, action: Action) => post(PAGE + path, "keys", action, PAGE);

export const routes: readonly Route[] = [
  post("/api/webhooks", "keys", createWebhook, "/api"),
  get(PAGE, "keys", webhookPage),
  ofWebhook("", updateWebhook),
  ofWebhook("/test", testWebhook),
  ofWebhook("/rotate", rotateWebhook),
  ofWebhook("/enable", enableWebhook),
  ofWebhook("/disable", disableWebhook),
  ofWebhook("/delete", deleteWebhook),
  ofWebhook("/replay", replayWebhook),
];
