// POST /orders and GET /orders/:id. docs/specification/endpoints.md#post-orders and #get-order.

import type { Order } from "../../db/orders/orders.ts";
import { findPublicOrder } from "../../db/orders/public-orders.ts";
import type { Awaitable, ReadStore } from "../../db/port/port.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { orderCreated, orderStatus } from "../../domain/orders/order-members.ts";
import { orderResponse } from "../../domain/orders/responses.ts";
import type { PlaceOrder } from "../../operations/orders/orders.ts";
import {
  callerTextFields,
  extraFields,
  type Fields,
  linkField,
  quantityField,
  readBody,
  serviceField,
} from "../read/body.ts";
import { type Call, LostResponse, PreparedResponse } from "../server/endpoint.ts";
import { type ClaimDeps, respondOnce, readClaim } from "../server/idempotency.ts";
import type { RateLimits } from "../server/rate-limits.ts";
import { isLostOrder, refuseByMagicLink } from "./sandbox.ts";
import * as describe from "../../api-docs/endpoints/orders.ts";
import { ORDER, type Route } from "../server/api-route.ts";

export interface OrderDeps extends ClaimDeps {
  limits: Pick<RateLimits, "orderLimitsOf">;
  /** Resolves with the order once its provider has replied, or with its current state if that takes too long. */
  awaitProvider(order: Order): Promise<Order>;
}

/**
 * Places an order. Responds 502 if the provider refuses the order while the caller waits; it was refunded.
 * docs/specification/delivery.md#delivery-wait.
 */
async function postOrder(deps: OrderDeps, call: Call): Promise<object> {
  const { writer } = deps;
  const { request, key } = call;
  const { bytes, fields } = await readBody(request);
  const order = placeOrderOf(fields, key, deps);
  const claim = readClaim(request, bytes);
  refuseByMagicLink(key, [order]);
  let isLost = false;
  const wait = async (placed: Order) => {
    isLost = isLostOrder(placed);
    return placedResponse(await deps.awaitProvider(placed));
  };
  const respond = async () => {
    if (!claim) {
      const placed = await writer.submit("placeOrderForResponse", order);
      if (typeof placed !== "string") return wait(placed);
      return new PreparedResponse({ status: 200, body: placed }, false);
    }
    const act = () => writer.submit("placeOrderOnceForResponse", { order, claim });
    return respondOnce(deps, call, claim, act, orderResponse, wait);
  };
  const response = await respond();
  return isLost ? new LostResponse() : response;
}

/** Returns the response to a placed order. Refuses: provider_refused. */
export function placedResponse(order: Order): object {
  if (order.delivery?.placement === "refused") {
    throw new Refusal("provider_refused", { order: orderCreated(order) });
  }
  return orderResponse(order);
}

/** Returns an order. Another reseller's order gets the same 404 as one that does not exist. */
function getOrder({ store }: { store: ReadStore }, { params, key }: Call): Awaitable<object> {
  return store.read((reader) => {
    const order = findPublicOrder(reader, params["id"]!);
    if (!order || order.resellerAccount !== key.resellerAccount) throw refusal("order_not_found");
    return { status: "success", order: orderStatus(order) };
  });
}

/**
 * Reads the order in a body. Refuses the first malformed field, in the order of
 * docs/specification/endpoints.md#post-orders.
 */
export function placeOrderOf(
  fields: Fields,
  key: Call["key"],
  { limits }: Pick<OrderDeps, "limits">,
): PlaceOrder {
  const order = {
    resellerAccount: key.resellerAccount,
    keyId: key.id,
    service: serviceField(fields),
    link: linkField(fields, key),
    quantity: quantityField(fields),
    ...callerTextFields(fields),
  };
  const given = extraFields(fields);
  const orderLimits = limits.orderLimitsOf(key);
  if (!given && !orderLimits) return order;
  return { ...order, ...(given && { given }), ...(orderLimits && { limits: orderLimits }) };
}

export const routes: readonly Route<OrderDeps & { store: ReadStore }>[] = [
  ["POST", "/api/v1/orders", ORDER, postOrder, describe.placeOrder],
  ["GET", "/api/v1/orders/:id", ORDER, getOrder, describe.getOrder],
];
