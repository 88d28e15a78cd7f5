// All routes of the API: method, path, what the key must be permitted, handler, description.

import {
  getBalance as describeBalance,
  listTransactions,
} from "../../api-docs/endpoints/balance.ts";
import type { Operation } from "../../api-docs/schemas/operation.ts";
import {
  getOrder as describeOrder,
  listOrders,
  placeOrder,
  placeOrders,
} from "../../api-docs/endpoints/orders.ts";
import {
  cancelOrder,
  listOrderRequests,
  refillOrder,
} from "../../api-docs/endpoints/order-requests.ts";
import { listServiceChanges } from "../../api-docs/endpoints/service-changes.ts";
import { listServices } from "../../api-docs/endpoints/services.ts";
import { moveTestOrder } from "../../api-docs/endpoints/test-orders.ts";
import { sendTestEvent } from "../../api-docs/endpoints/test-webhooks.ts";
import { getUser as describeUser, recharge } from "../../api-docs/endpoints/users.ts";
import * as describe from "../../api-docs/endpoints/webhooks.ts";
import type { ReadStore } from "../../db/port/port.ts";
import type { RouteNeeds } from "./auth.ts";
import type { Call } from "./endpoint.ts";
import { postOrderBatch } from "../api/order-batches.ts";
import { getOrders } from "../api/order-lists.ts";
import { getOrderRequests, postCancel, postRefill } from "../api/order-requests.ts";
import { getOrder, type OrderDeps, postOrder } from "../api/orders.ts";
import type { InternalErrorDeps } from "./request-context.ts";
import { getServiceChanges } from "../api/service-changes.ts";
import { getServices } from "../api/services.ts";
import { postTestOrder } from "../api/test-orders.ts";
import { postTestWebhook } from "../api/test-webhooks.ts";
import { getTransactions } from "../api/transactions.ts";
import { getBalance, getUser, postRecharge } from "../api/users.ts";
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
} from "../api/webhooks.ts";

const ORDER: RouteNeeds = { permission: "order" };
const LOOKUP: RouteNeeds = { permission: "user lookup" };
const RECHARGE: RouteNeeds = { permission: "recharge" };
const WEBHOOK: RouteNeeds = { permission: "webhook" };
const TEST: RouteNeeds = { permission: "order", test: true };
const TEST_WEBHOOK: RouteNeeds = { permission: "webhook", test: true };

/** Dependencies of all handlers; each handler declares its part. */
export type HandlerDeps = OrderDeps & InternalErrorDeps & WebhookDeps & { store: ReadStore };

export type Route = [
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  needs: RouteNeeds,
  handle: (deps: HandlerDeps, call: Call) => object | Promise<object>,
  description: Operation,
];

export const ROUTES: readonly Route[] = [
  ["GET", "/api/v1/services", ORDER, getServices, listServices],
  ["GET", "/api/v1/services/changes", ORDER, getServiceChanges, listServiceChanges],
  ["POST", "/api/v1/orders", ORDER, postOrder, placeOrder],
  ["GET", "/api/v1/orders", ORDER, getOrders, listOrders],
  ["GET", "/api/v1/orders/:id", ORDER, getOrder, describeOrder],
  ["POST", "/api/v1/orders/batch", ORDER, postOrderBatch, placeOrders],
  ["POST", "/api/v1/orders/:id/cancel", ORDER, postCancel, cancelOrder],
  ["POST", "/api/v1/orders/:id/refill", ORDER, postRefill, refillOrder],
  ["GET", "/api/v1/orders/:id/requests", ORDER, getOrderRequests, listOrderRequests],
  ["GET", "/api/v1/balance", ORDER, getBalance, describeBalance],
  ["GET", "/api/v1/transactions", ORDER, getTransactions, listTransactions],
  ["GET", "/api/v1/user", LOOKUP, getUser, describeUser],
  ["POST", "/api/v1/recharge", RECHARGE, postRecharge, recharge],
  ["GET", "/api/v1/webhooks", WEBHOOK, getWebhooks, describe.listWebhooks],
  ["POST", "/api/v1/webhooks", WEBHOOK, postWebhook, describe.createWebhook],
  ["GET", "/api/v1/webhooks/:id", WEBHOOK, getWebhook, describe.getWebhook],
  ["PATCH", "/api/v1/webhooks/:id", WEBHOOK, patchWebhook, describe.updateWebhook],
  ["DELETE", "/api/v1/webhooks/:id", WEBHOOK, deleteWebhook, describe.deleteWebhook],
  ["POST", "/api/v1/webhooks/:id/test", WEBHOOK, postWebhookTest, describe.testWebhook],
  ["POST", "/api/v1/webhooks/:id/rotate", WEBHOOK, postWebhookRotate, describe.rotateWebhook],
  ["POST", "/api/v1/webhooks/:id/replay", WEBHOOK, postWebhookReplay, describe.replayWebhook],
  [
    "GET",
    "/api/v1/webhooks/:id/deliveries",
    WEBHOOK,
    getWebhookDeliveries,
    describe.listDeliveries,
  ],
  ["POST", "/api/v1/test/orders/:id", TEST, postTestOrder, moveTestOrder],
  ["POST", "/api/v1/test/webhooks", TEST_WEBHOOK, postTestWebhook, sendTestEvent],
];

/** Returns the methods of each path. */
export function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const [method, path] of ROUTES) methods.set(path, [...(methods.get(path) ?? []), method]);
  return methods;
}
