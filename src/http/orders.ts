// POST /orders and GET /orders/:id. Specification 4.

import { findOrder, type Order } from "../db/orders.ts";
import { refusal } from "../domain/errors.ts";
import { jsonAmount } from "../domain/money.ts";
import { linkField, quantityField, readFields, serviceField } from "./body.ts";
import type { Api, Call } from "./endpoint.ts";

export async function postOrder({ writer }: Api, { request, key }: Call): Promise<object> {
  const fields = await readFields(request);
  const order = await writer.submit("placeOrder", {
    resellerAccount: key.resellerAccount,
    keyId: key.id,
    service: serviceField(fields),
    link: linkField(fields),
    quantity: quantityField(fields),
  });
  return { status: "success", order: orderCreated(order) };
}

/** Another reseller's order is as unknown as one that does not exist. */
export function getOrder({ connection }: Api, { params, key }: Call): object {
  const order = findOrder(connection, params["id"]!);
  if (!order || order.resellerAccount !== key.resellerAccount) throw refusal("order_not_found");
  return { status: "success", order: orderStatus(order) };
}

/** The Order creation shape: specification 2. */
function orderCreated(order: Order) {
  return {
    id: order.id,
    orderId: order.orderId,
    service: order.serviceName,
    link: order.link,
    quantity: order.quantity,
    charge: jsonAmount(order.chargeMicros),
    status: order.status,
    createdAt: new Date(order.createdAt).toISOString(),
  };
}

/** The Order status shape: specification 2. */
export function orderStatus(order: Order) {
  return { ...orderCreated(order), startCount: order.startCount, remains: order.remains };
}
