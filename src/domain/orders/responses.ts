// Builds the response bodies of orders, requests and recharges. The order objects are in order-members.ts. The
// bodies are built in domain/ because the idempotency record stores the response in the transaction of its effect.
// docs/specification/endpoints.md#objects.

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
  /** The user after the credit. Its balance is below 2^53, because BALANCE_LIMIT_MICROS limits credits. */
  user: PublicUser & { balanceMicros: number };
  previousBalanceMicros: number;
}

/** Returns the body of a 200 to `POST /orders`. */
export function orderResponse(order: PublicOrder) {
  return { status: "success", order: orderCreated(order) };
}

/** Returns the body of a 200 to `POST /recharge`. */
export function rechargeResponse({ user, previousBalanceMicros }: PublicRecharge) {
  return {
    status: "success",
    user: { ...userBalances(user), previousBalance: jsonAmount(previousBalanceMicros) },
    amount: jsonAmount(user.balanceMicros - previousBalanceMicros),
  };
}

/** The fields in a response of a request to cancel or refill an order. */
export interface PublicRequest {
  id: string;
  kind: RequestKind;
  orderId: number;
  state: RequestState;
  createdAt: number;
}

/** Returns the body of a 200 to `POST /orders/:id/cancel` and `/refill`. */
export function requestResponse(request: PublicRequest) {
  return { status: "success", request: orderRequest(request) };
}

export function orderRequest({ id, kind, orderId, state, createdAt }: PublicRequest) {
  return { id, kind, orderId, state, createdAt: new Date(createdAt).toISOString() };
}

/** Returns a user with both balances. The one that does not apply is 0. */
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
