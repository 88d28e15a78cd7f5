// The response bodies of orders and recharges, and the objects in them but orders (order-members.ts). docs/specification/endpoints.md#objects.
// They are made in domain/ because the idempotency record stores the response in the same transaction as its effect.

import { jsonAmount, type Micros } from "../ledger/money.ts";
import { orderCreated, type PublicOrder } from "./order-members.ts";
import type { RequestKind, RequestState } from "./order-requests.ts";

/** The fields of a user in a response. */
export interface PublicUser {
  id: string;
  username: string;
  name: string;
  parentAccount: number | null;
  balanceMicros: Micros;
}

export interface PublicRecharge {
  /** The user after the credit, whose balance BALANCE_LIMIT_MICROS keeps below 2^53. */
  user: PublicUser & { balanceMicros: number };
  previousBalanceMicros: number;
}

/** The body of a 200 to `POST /orders`. */
export function orderResponse(order: PublicOrder) {
  return { status: "success", order: orderCreated(order) };
}

/** The body of a 200 to `POST /recharge`. */
export function rechargeResponse({ user, previousBalanceMicros }: PublicRecharge) {
  return {
    status: "success",
    user: { ...userBalances(user), previousBalance: jsonAmount(previousBalanceMicros) },
    amount: jsonAmount(user.balanceMicros - previousBalanceMicros),
  };
}

/** The fields of a request for an order in a response. */
export interface PublicRequest {
  id: string;
  kind: RequestKind;
  orderId: number;
  state: RequestState;
  createdAt: number;
}

/** The body of a 200 to `POST /orders/:id/cancel` and `/refill`. */
export function requestResponse(request: PublicRequest) {
  return { status: "success", request: orderRequest(request) };
}

export function orderRequest({ id, kind, orderId, state, createdAt }: PublicRequest) {
  return { id, kind, orderId, state, createdAt: new Date(createdAt).toISOString() };
}

/** A user with both balances always present; the one that does not apply is 0. */
export function userBalances(user: PublicUser) {
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
