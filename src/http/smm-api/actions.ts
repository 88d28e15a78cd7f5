// The protocol's actions, one row each. docs/specification/smm-api.md#v2-actions.

import type { CallerKey } from "../../db/users/keys.ts";
import type { Awaitable, ReadStore } from "../../db/port/port.ts";
import type { OrderDeps } from "../api/orders.ts";
import type { EndpointDeps } from "../server/request-context.ts";
import { getBalance } from "./balance.ts";
import type { Fields } from "./fields.ts";
import { cancelOrders, getRefillStatus, refillOrders } from "./order-requests.ts";
import { addOrder, getStatus } from "./orders.ts";
import { getServices } from "./services.ts";

export type ActionDeps = EndpointDeps & OrderDeps & { store: ReadStore };

export interface PanelCall {
  fields: Fields;
  key: Readonly<CallerKey>;
  requestId: string;
}

export interface Action {
  name: string;
  /** Whether the action changes nothing. */
  isRead: boolean;
  /** Returns the JSON value of the response, or throws a Refusal. */
  act(deps: ActionDeps, call: PanelCall): Awaitable<object>;
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
