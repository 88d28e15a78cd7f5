// The protocol's actions, one row each. docs/specification/smm-api.md#v2-actions.

import type { ActionDeps, SmmCall } from "./call.ts";
import type { Awaitable } from "../../db/port/port.ts";
import { getBalance } from "./balance.ts";
import { cancelOrders, getRefillStatus, refillOrders } from "./order-requests.ts";
import { addOrder, getStatus } from "./orders.ts";
import { getServices } from "./services.ts";

export interface Action {
  name: string;
  /** Whether the action changes nothing. */
  isRead: boolean;
  /** Returns the JSON value of the response, or throws a Refusal. */
  act(deps: ActionDeps, call: SmmCall): Awaitable<object>;
}

export const ACTIONS: readonly Action[] = [
  { name: "services", isRead: true, act: getServices },
  { name: "add", isRead: false, act: addOrder },
  { name: "status", isRead: true, act: getStatus },
  { name: "balance", isRead: true, act: getBalance },
  { name: "cancel", isRead: false, act: cancelOrders },
  { name: "refill", isRead: false, act: refillOrders },
  { name: "refill_status", isRead: true, act: getRefillStatus },
];
