// All routes of the API, in the order of its documentation.

import type { ReadStore } from "../../db/port/port.ts";
import { routes as orderBatches } from "../api/order-batches.ts";
import { routes as orderLists } from "../api/order-lists.ts";
import { routes as orderRequests } from "../api/order-requests.ts";
import { type OrderDeps, routes as orders } from "../api/orders.ts";
import { routes as serviceChanges } from "../api/service-changes.ts";
import { routes as services } from "../api/services.ts";
import { routes as testOrders } from "../api/test-orders.ts";
import { routes as testWebhooks } from "../api/test-webhooks.ts";
import { routes as transactions } from "../api/transactions.ts";
import { routes as users } from "../api/users.ts";
import { routes as webhooks, type WebhookDeps } from "../api/webhooks.ts";
import type { InternalErrorDeps } from "./request-context.ts";
import type { Route } from "./api-route.ts";

/** Dependencies of all handlers. */
export type HandlerDeps = OrderDeps & InternalErrorDeps & WebhookDeps & { store: ReadStore };

export const ROUTES: readonly Route<HandlerDeps>[] = [
  ...services,
  ...serviceChanges,
  ...orders,
  ...orderLists,
  ...orderBatches,
  ...orderRequests,
  ...transactions,
  ...users,
  ...webhooks,
  ...testOrders,
  ...testWebhooks,
];

/** Returns the methods of each path. */
export function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const [method, path] of ROUTES) methods.set(path, [...(methods.get(path) ?? []), method]);
  return methods;
}
