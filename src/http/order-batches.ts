// POST /orders/batch: up to 100 orders in one call and one durable commit, each answered as if it had come alone.

import { attempt, Refusal } from "../domain/errors.ts";
import type { Placed } from "../operations/order-batches.ts";
import type { PlaceOrder } from "../operations/orders.ts";
import { objectOf, ordersField, readFields } from "./body.ts";
import type { Api, Call } from "./endpoint.ts";
import { answerOf, errorBody } from "./errors.ts";
import { orderCreated } from "./order-shapes.ts";
import { placeOrderOf } from "./orders.ts";

export async function postOrderBatch({ writer }: Api, { request, key }: Call): Promise<object> {
  const bodies = ordersField(await readFields(request));
  const asked = bodies.map((body) => attempt(() => placeOrderOf(objectOf(body), key)));
  const orders = asked.filter((order): order is PlaceOrder => !(order instanceof Refusal));
  const placed = orders.length === 0 ? [] : await writer.submit("placeOrders", { orders });
  const inTurn = placed.values();
  const results = asked.map((order) =>
    order instanceof Refusal ? refused(order) : resultOf(inTurn.next().value!),
  );
  return { status: "success", results };
}

function resultOf(placed: Placed): object {
  if ("order" in placed) return { status: "success", order: orderCreated(placed.order) };
  return refused(new Refusal(placed.refused, placed.details as never));
}

/** What the single call would have answered, without the request id, which is the batch's. */
function refused(refusal: Refusal): object {
  const answer = answerOf(refusal);
  // Thrown, it becomes the fault that it is.
  if (!answer) throw refusal;
  return errorBody(answer);
}
