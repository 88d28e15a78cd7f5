// POST /orders/:id/cancel and /refill, GET /orders/:id/requests. docs/specification/orders.md#order-requests.

import { listRequestsOfOrder } from "../../db/orders/order-requests.ts";
import { findPublicOrder } from "../../db/orders/public-orders.ts";
import type { Awaitable, ReadStore } from "../../db/port/port.ts";
import type { RequestKind } from "../../domain/orders/order-requests.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { orderRequest, requestResponse } from "../../domain/orders/responses.ts";
import { lookedUp, readOptionalBytes } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";
import { type ClaimDeps, readClaim, respondOnce } from "../server/idempotency.ts";
import {
  cancelOrder,
  listOrderRequests,
  refillOrder,
} from "../../api-docs/endpoints/order-requests.ts";
import { ORDER, type Route } from "../server/api-route.ts";

const postCancel = (deps: ClaimDeps, call: Call) => post(deps, call, "cancel");
const postRefill = (deps: ClaimDeps, call: Call) => post(deps, call, "refill");

async function post(deps: ClaimDeps, call: Call, kind: RequestKind): Promise<object> {
  const { writer } = deps;
  const { request: incoming, params, key } = call;
  const claim = readClaim(incoming, await readOptionalBytes(incoming));
  const id = lookedUp(params["id"]!);
  const request = { resellerAccount: key.resellerAccount, keyId: key.id, kind, id };
  if (!claim) return requestResponse(await writer.submit("makeRequest", request));
  const act = () => writer.submit("makeRequestOnce", { request, claim });
  return respondOnce(deps, call, claim, act, requestResponse);
}

function getOrderRequests(
  { store }: { store: ReadStore },
  { params, key }: Call,
): Awaitable<object> {
  return store.read((reader) => {
    const order = findPublicOrder(reader, params["id"]!);
    if (!order || order.resellerAccount !== key.resellerAccount) throw refusal("order_not_found");
    const requests = listRequestsOfOrder(reader, order.orderId).map(orderRequest);
    return { status: "success", requests };
  });
}

export const routes: readonly Route<ClaimDeps & { store: ReadStore }>[] = [
  ["POST", "/api/v1/orders/:id/cancel", ORDER, postCancel, cancelOrder],
  ["POST", "/api/v1/orders/:id/refill", ORDER, postRefill, refillOrder],
  ["GET", "/api/v1/orders/:id/requests", ORDER, getOrderRequests, listOrderRequests],
];
