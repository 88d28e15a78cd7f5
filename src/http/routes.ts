// Method, path, the permission its key needs, handler, description: the whole API.

import { getBalance as describeBalance, listTransactions } from "../api-docs/balance.ts";
import type { Operation } from "../api-docs/operation.ts";
import {
  getOrder as describeOrder,
  listOrders,
  placeOrder,
  placeOrders,
} from "../api-docs/orders.ts";
import { listServices } from "../api-docs/services.ts";
import { getUser as describeUser, recharge } from "../api-docs/users.ts";
import * as describe from "../api-docs/webhooks.ts";
import type { ReadStore } from "../db/port.ts";
import type { Permission } from "../domain/keys.ts";
import type { Call } from "./endpoint.ts";
import { postOrderBatch } from "./order-batches.ts";
import { getOrders } from "./order-lists.ts";
import { getOrder, type OrderDeps, postOrder } from "./orders.ts";
import type { InternalErrorDeps } from "./request-context.ts";
import { getServices } from "./services.ts";
import { getTransactions } from "./transactions.ts";
import { getBalance, getUser, postRecharge } from "./users.ts";
import {
  deleteWebhook,
  getWebhook,
  getWebhookDeliveries,
  getWebhooks,
  patchWebhook,
  postWebhook,
  postWebhookReplay,
  postWebhookRotate,
  postWebhookTest,
  type WebhookDeps,
} from "./webhooks.ts";

/** Dependencies of all handlers; each handler declares its part. */
export type HandlerDeps = OrderDeps & InternalErrorDeps & WebhookDeps & { store: ReadStore };

export type Route = [
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  permission: Permission,
  handle: (deps: HandlerDeps, call: Call) => object | Promise<object>,
  description: Operation,
];

export const ROUTES: readonly Route[] = [
  ["GET", "/api/v1/services", "order", getServices, listServices],
  ["POST", "/api/v1/orders", "order", postOrder, placeOrder],
  ["GET", "/api/v1/orders", "order", getOrders, listOrders],
  ["GET", "/api/v1/orders/:id", "order", getOrder, describeOrder],
  ["POST", "/api/v1/orders/batch", "order", postOrderBatch, placeOrders],
  ["GET", "/api/v1/balance", "order", getBalance, describeBalance],
  ["GET", "/api/v1/transactions", "order", getTransactions, listTransactions],
  ["GET", "/api/v1/user", "user lookup", getUser, describeUser],
  ["POST", "/api/v1/recharge", "recharge", postRecharge, recharge],
  ["GET", "/api/v1/webhooks", "webhook", getWebhooks, describe.listWebhooks],
  ["POST", "/api/v1/webhooks", "webhook", postWebhook, describe.createWebhook],
  ["GET", "/api/v1/webhooks/:id", "webhook", getWebhook, describe.getWebhook],
  ["PATCH", "/api/v1/webhooks/:id", "webhook", patchWebhook, describe.updateWebhook],
  ["DELETE", "/api/v1/webhooks/:id", "webhook", deleteWebhook, describe.deleteWebhook],
  ["POST", "/api/v1/webhooks/:id/test", "webhook", postWebhookTest, describe.testWebhook],
  ["POST", "/api/v1/webhooks/:id/rotate", "webhook", postWebhookRotate, describe.rotateWebhook],
  ["POST", "/api/v1/webhooks/:id/replay", "webhook", postWebhookReplay, describe.replayWebhook],
  [
    "GET",
    "/api/v1/webhooks/:id/deliveries",
    "webhook",
    getWebhookDeliveries,
    describe.listDeliveries,
  ],
];

/** The methods of each path. */
export function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const [method, path] of ROUTES) methods.set(path, [...(methods.get(path) ?? []), method]);
  return methods;
}
