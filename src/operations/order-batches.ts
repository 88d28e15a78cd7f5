// Several orders in one command, and so in one commit.

import { attempt, Refusal, type RefusalCode } from "../domain/errors.ts";
import type { Tx } from "../db/connection.ts";
import type { Order } from "../db/orders.ts";
import type { Context } from "./context.ts";
import { type PlaceOrder, placeOrder } from "./orders.ts";

export interface PlaceOrders {
  orders: PlaceOrder[];
}

/** What became of one of them. */
export type Placed = { order: Order } | { refused: RefusalCode; details: unknown };

/**
 * Places each order as placeOrder does, in turn, so that an earlier one lowers the balance for a later one.
 * Refuses nothing itself: placeOrder refuses before its first write, so one refusal leaves the others alone.
 */
export function placeOrders(tx: Tx, command: PlaceOrders, context: Context): Placed[] {
  return command.orders.map((order) => {
    const placed = attempt(() => placeOrder(tx, order, context));
    return placed instanceof Refusal
      ? { refused: placed.code, details: placed.details }
      : { order: placed };
  });
}
