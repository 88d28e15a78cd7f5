// POST /orders/batch: up to 100 orders in one call and one durable commit, each with the result of a single call. The
// response is a 200 that also lists refusals, because the batch itself succeeded.

import { attempt, Refusal } from "../../domain/values/error-table.ts";
import { orderResponse } from "../../domain/orders/responses.ts";
import type { Placed } from "../../operations/orders/order-batches.ts";
import { objectOf, ordersField, readBody } from "../read/body.ts";
import { type Call, LostResponse } from "../server/endpoint.ts";
import { errorResponseOf, errorMembers } from "../server/errors.ts";
import { respondOnce, readClaim } from "../server/idempotency.ts";
import { type OrderDeps, placedResponse, placeOrderOf } from "./orders.ts";
import { isLostOrder, refuseByMagicLink } from "./sandbox.ts";
import * as describe from "../../api-docs/endpoints/orders.ts";
import { ORDER, type Route } from "../server/api-route.ts";

/** Places a batch. Orders are awaited concurrently: a batch takes no longer than its slowest order. */
async function postOrderBatch(deps: OrderDeps, call: Call): Promise<object> {
  const { writer } = deps;
  const { request, key } = call;
  const { id: keyId, resellerAccount } = key;
  const { bytes, fields } = await readBody(request);
  const entries = ordersField(fields).map((body) => entryOf(body, key, deps));
  const claim = readClaim(request, bytes);
  refuseByMagicLink(
    key,
    entries.flatMap((entry) => (entry.order ? [entry.order] : [])),
  );
  let isLost = false;
  const wait = async (placed: Placed[]) => {
    isLost = placed.some((each) => "order" in each && isLostOrder(each.order));
    return batchResponse(await Promise.all(placed.map((each) => waitedResult(deps, each))));
  };
  const currentResponse = (placed: Placed[]) => batchResponse(placed.map(resultOf));
  const respond = async () => {
    if (!claim) return wait(await writer.submit("placeOrders", { keyId, entries }));
    const once = { keyId, entries, resellerAccount, claim };
    const act = () => writer.submit("placeOrdersOnce", once);
    return respondOnce(deps, call, claim, act, currentResponse, wait);
  };
  const response = await respond();
  return isLost ? new LostResponse() : response;
}

function entryOf(body: unknown, key: Call["key"], deps: OrderDeps) {
  const order = attempt(() => placeOrderOf(objectOf(body), key, deps));
  return order instanceof Refusal ? { refused: order.code, details: order.details } : { order };
}

function batchResponse(results: object[]): object {
  return { status: "success", results };
}

/** Returns the response that a single call would have got. */
async function waitedResult(deps: OrderDeps, placed: Placed): Promise<object> {
  if (!("order" in placed)) return resultOf(placed);
  const order = await deps.awaitProvider(placed.order);
  const response = attempt(() => placedResponse(order));
  return response instanceof Refusal ? refusedResult(response) : response;
}

/** Returns the response of a single call that does not wait for the provider. */
function resultOf(placed: Placed): object {
  if ("order" in placed) return orderResponse(placed.order);
  return refusedResult(new Refusal(placed.refused, placed.details as never));
}

/** Returns a refusal as a result, without the request id, which the batch's response has. */
function refusedResult(refusal: Refusal): object {
  const response = errorResponseOf(refusal);
  // A refusal that the API does not have is an internal error.
  if (!response) throw refusal;
  return errorMembers(response);
}

export const routes: readonly Route<OrderDeps>[] = [
  ["POST", "/api/v1/orders/batch", ORDER, postOrderBatch, describe.placeOrders],
];
