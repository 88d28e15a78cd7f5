// The bodies of the answers to an order and to a recharge, and the objects in them. Specification 2 and 4.
// They are made here because idempotency keeps an answer in the transaction of its effect.

import type { Order } from "../db/orders.ts";
import type { User } from "../db/users.ts";
import { jsonAmount } from "../domain/money.ts";
import type { Recharged } from "./recharges.ts";

/** The body of a 200 to `POST /orders`. */
export function orderAnswer(order: Order) {
  return { status: "success", order: orderCreated(order) };
}

/** The body of a 200 to `POST /recharge`. */
export function rechargeAnswer({ user, previousBalanceMicros }: Recharged) {
  return {
    status: "success",
    user: { ...userBalances(user), previousBalance: jsonAmount(previousBalanceMicros) },
    amount: jsonAmount(user.balanceMicros - previousBalanceMicros),
  };
}

/** The Order creation shape. */
export function orderCreated(order: Order) {
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

/** Both balances are always there; the one that does not apply is 0. */
export function userBalances(user: User) {
  const balance = jsonAmount(user.balanceMicros);
  const isChild = user.parentAccount !== null;
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    balance: isChild ? 0 : balance,
    childBalance: isChild ? balance : 0,
  };
}
