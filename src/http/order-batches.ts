// POST /orders/batch: up to 100 orders in one call and one durable commit, each answered as if it had come alone.

import type { CallerKey } from "../db/keys.ts";
import { attempt, Refusal } from "../domain/errors.ts";
import { orderAnswer } from "../domain/answers.ts";
import type { Placed } from "../operations/order-batches.ts";
import { objectOf, ordersField, readBody } from "./body.ts";
import type { Api, Call } from "./endpoint.ts";
import { answerOf, errorMembers } from "./errors.ts";
import { answerOnce, claimOf } from "./idempotency.ts";
import { placeOrderOf } from "./orders.ts";

export async function postOrderBatch(api: Api, call: Call): Promise<object> {
  const { writer } = api;
  const { request, key } = call;
  const { resellerAccount } = key;
  const { bytes, fields } = await readBody(request);
  const entries = ordersField(fields).map((body) => entryOf(body, key));
  const claim = claimOf(request, bytes);
  if (!claim) return batchAnswer(await writer.submit("placeOrders", { entries }));
  const act = () => writer.submit("placeOrdersOnce", { entries, resellerAccount, claim });
  return answerOnce(api, call, claim, act, batchAnswer);
}

function entryOf(body: unknown, key: CallerKey) {
  const order = attempt(() => placeOrderOf(objectOf(body), key));
  return order instanceof Refusal ? { refused: order.code, details: order.details } : { order };
}

function batchAnswer(placed: Placed[]): object {
  return { status: "success", results: placed.map(resultOf) };
}

/** What the single call would have answered; the request id is the batch's. */
function resultOf(placed: Placed): object {
  if ("order" in placed) return orderAnswer(placed.order);
  const refusal = new Refusal(placed.refused, placed.details as never);
  const answer = answerOf(refusal);
  // Thrown, it becomes the fault that it is.
  if (!answer) throw refusal;
  return errorMembers(answer);
}
