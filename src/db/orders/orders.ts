// Orders: finding one by its id, inserting and updating. Orders as the API returns them are in public-orders.ts, lists
// in operator-orders.ts.

import { isOrderNumber } from "../../domain/orders/orders.ts";
import { isCuid } from "../../domain/values/text.ts";
import { FINAL_STATUSES } from "../../domain/orders/order-transitions.ts";
import { statusList } from "./order-statuses.ts";
import type { Delivery } from "../../domain/delivery/deliveries.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import type { Reader, Tx } from "../port/port.ts";
import { statement } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { type OrderRow, orders, resentOrders } from "../tables/orders.ts";

/** An order with its delivery columns as one member, `delivery`; null for an order of a manual service. */
export type Order = Omit<OrderRow, keyof Delivery> & { delivery: Delivery | null };

/** The fields of a new order. The database adds its number and the initial values. */
export type NewOrder = Omit<
  Order,
  "orderId" | "refundedMicros" | "startCount" | "sequence" | "delivery"
>;

export type ListedOrder = Order & { username: string };

/** Finds an order by its number or its cuid2. */
export function findOrder(reader: Reader, id: string): Order | undefined {
  const row = isOrderNumber(id)
    ? reader.row(orders.byKey, Number(id))
    : isCuid(id)
      ? reader.row(orders.byId, id)
      : undefined;
  return row && toOrder(row);
}

/** Inserts an order. Returns it with its number. */
export function insertOrder(tx: Tx, order: NewOrder, delivery: Delivery | null): Order {
  const { orderId, refundedMicros, startCount, sequence } = tx.insert(orders, {
    ...order,
    ...(delivery ?? { placement: "manual" }),
  });
  return { ...order, delivery, orderId, refundedMicros, startCount, sequence };
}

/** Writes the columns that may change, where they differ: status, counts, refunded amount, sequence and delivery. */
export function updateOrder(tx: Tx, order: Order): void {
  const { status, startCount, remains, refundedMicros, sequence, delivery } = order;
  const changes = { status, startCount, remains, refundedMicros, sequence };
  tx.update(orders, order, { ...changes, ...delivery });
}

/** The failed order that an order was placed for, and the order that was placed for it. */
export interface Resends {
  resends: number | null;
  resentAs: number | null;
}

export function findResends(reader: Reader, orderId: number): Resends {
  return {
    resends: reader.row(resentOrders.byNewOrder, orderId)?.orderId ?? null,
    resentAs: reader.row(resentOrders.byKey, orderId)?.resentAs ?? null,
  };
}

const RAISE_SEQUENCES = statement({
  parameters: { to: number },
  writes: [orders],
  text: `UPDATE orders SET sequence = :to
    WHERE sequence < :to AND status NOT IN ${statusList(FINAL_STATUSES)}`,
});

/** Raises the sequences of all orders that may still have events to at least `to`. Returns how many were raised. */
export function raiseSequences(tx: Tx, to: number): number {
  return tx.run(RAISE_SEQUENCES, { to });
}

/** SQL condition that excludes test orders, for the operator's figures and lists. */
export const LIVE_ORDER_CONDITION = `(orders.provider_id IS NULL OR orders.provider_id <> ${SANDBOX_PROVIDER})`;
/** SQL for the number of orders that the operator must settle. Excludes test orders, which their developers settle. */
export const UNKNOWN_PLACEMENTS = `SELECT count(*) FROM orders
  WHERE placement = 'unknown' AND status = 'PENDING' AND ${LIVE_ORDER_CONDITION}`;
export const IS_TEST_ORDER = `orders.provider_id = ${SANDBOX_PROVIDER}`;

/**
 * Converts a row. A CHECK ensures that it has provider, service and a placement other than `manual`, or none of them.
 */
export function toOrder(row: OrderRow): Order {
  const { providerId, providerService, placement, providerOrder, reported, ...rest } = row;
  const { nextSubmitAt, nextPollAt, polledAt, changedAt, ...order } = rest;
  if (providerId === null || providerService === null || placement === "manual") {
    return { ...order, delivery: null };
  }
  const times = { nextSubmitAt, nextPollAt, polledAt, changedAt };
  const delivery = { providerId, providerService, placement, providerOrder, reported, ...times };
  return { ...order, delivery };
}
