// POST /orders and GET /orders/:id. Specification 4.

import { findOrder, type Order } from "../db/orders.ts";
import { refusal } from "../domain/errors.ts";
import { orderAnswer, orderCreated } from "../domain/answers.ts";
import { linkField, quantityField, readBody, serviceField } from "./body.ts";
import type { Api, Call } from "./endpoint.ts";
import { answerOnce, claimOf } from "./idempotency.ts";

export async function postOrder(api: Api, { request, key }: Call): Promise<object> {
  const { writer } = api;
  const { bytes, fields } = await readBody(request);
  const order = {
    resellerAccount: key.resellerAccount,
    keyId: key.id,
    service: serviceField(fields),
    link: linkField(fields),
    quantity: quantityField(fields),
  };
  const claim = claimOf(request, bytes);
  if (!claim) return orderAnswer(await writer.submit("placeOrder", order));
  return answerOnce(api, key.resellerAccount, claim, () =>
    writer.submit("placeOrderOnce", { order, claim }),
  );
}

/** Another reseller's order is as unknown as one that does not exist. */
export function getOrder({ connection }: Api, { params, key }: Call): object {
  const order = findOrder(connection, params["id"]!);
  if (!order || order.resellerAccount !== key.resellerAccount) throw refusal("order_not_found");
  return { status: "success", order: orderStatus(order) };
}

/** The Order status shape: specification 2. */
export function orderStatus(order: Order) {
  return { ...orderCreated(order), startCount: order.startCount, remains: order.remains };
}
