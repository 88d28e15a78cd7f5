// Orders: find one by its id, insert and update. As the API returns them: public-orders.ts; lists: operator-orders.ts.

import { ORDER_ID_PATTERN, type OrderStatus } from "../domain/orders.ts";
import type { Delivery } from "../domain/deliveries.ts";
import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import type { PriceUnit } from "../domain/services.ts";
import type { Reader, Tx } from "./port.ts";
import { statement } from "./query.ts";
import type { orders as schema } from "./schema.ts";
import { number } from "./table-definition.ts";
import { orders } from "./tables.ts";

export interface Order {
  /** The numeric order number; only grows. */
  orderId: number;
  /** The cuid2. */
  id: string;
  resellerAccount: number;
  serviceId: string;
  serviceName: string;
  priceMicros: number;
  per: PriceUnit;
  link: string;
  quantity: number;
  chargeMicros: number;
  refundedMicros: number;
  status: OrderStatus;
  startCount: number;
  remains: number;
  createdAt: number;
  /** The caller's own name for it; null when it gave none. */
  reference: string | null;
  /** How many events it has had: transitions, and changes of its progress. */
  sequence: number;
  /** The type it was sold as and its fields, as JSON (OrderExtra); null: a link and a quantity alone. */
  extra: string | null;
  /** Null: of a manual service. */
  delivery: Delivery | null;
}

/** As the table holds it: with its delivery in the same row. */
export type OrderRow = typeof schema.$inferSelect;

export type NewOrder = Omit<Order, "orderId" | "refundedMicros" | "startCount" | "sequence">;

export interface ListedOrder extends Order {
  username: string;
}

/** The two ids of an order: its number as digits without a leading zero, and the cuid. */
export const NUMERIC_ID = /^[1-9][0-9]{0,15}$/;
export const CUID = new RegExp(ORDER_ID_PATTERN);

/** By either of its ids: the order number as digits without a leading zero, or the cuid. */
export function findOrder(reader: Reader, id: string): Order | undefined {
  const row = NUMERIC_ID.test(id)
    ? reader.row(orders.byKey, Number(id))
    : CUID.test(id)
      ? reader.row(orders.byId, id)
      : undefined;
  return row && toOrder(row);
}

/** Returns the order with its number. */
export function insertOrder(tx: Tx, order: NewOrder): Order {
  const { delivery } = order;
  // Field by field: an object without one of its fields (`{ delivery, ...rest }`) takes a microsecond to make.
  const columns = {
    id: order.id,
    resellerAccount: order.resellerAccount,
    serviceId: order.serviceId,
    serviceName: order.serviceName,
    priceMicros: order.priceMicros,
    per: order.per,
    link: order.link,
    quantity: order.quantity,
    chargeMicros: order.chargeMicros,
    status: order.status,
    remains: order.remains,
    createdAt: order.createdAt,
    reference: order.reference,
    placement: "manual" as const,
    extra: order.extra,
  };
  const { orderId, refundedMicros, startCount, sequence } = tx.insert(
    orders,
    delivery ? { ...columns, ...delivery } : columns,
  );
  return { ...order, orderId, refundedMicros, startCount, sequence };
}

/** Writes what differs of the columns that may change: status, counts, refunded amount, sequence and delivery. */
export function updateOrder(tx: Tx, order: Order): void {
  const { status, startCount, remains, refundedMicros, sequence, delivery } = order;
  const changes = { status, startCount, remains, refundedMicros, sequence };
  tx.update(orders, order, { ...changes, ...delivery });
}

const RAISE_SEQUENCES = statement({
  takes: { to: number },
  writes: [orders],
  text: `UPDATE orders SET sequence = :to
    WHERE sequence < :to AND status <> 'FAILED' AND status <> 'CANCELLED' AND status <> 'REFUNDED'`,
});

/** Of all orders that may have events yet. Returns how many. */
export function raiseSequences(tx: Tx, to: number): number {
  return tx.run(RAISE_SEQUENCES, { to });
}

/** For figures and lists of the operator. */
export const NO_TEST_ORDER = `(orders.provider_id IS NULL OR orders.provider_id <> ${SANDBOX_PROVIDER})`;
/** How many orders the operator is to settle: a test order waits for its developer. */
export const UNKNOWN_PLACEMENTS = `SELECT count(*) FROM orders
  WHERE placement = 'unknown' AND status = 'PENDING' AND ${NO_TEST_ORDER}`;
export const IS_TEST_ORDER = `orders.provider_id = ${SANDBOX_PROVIDER}`;

/** By a CHECK of the table a row has provider, service and a placement other than `manual`, or none of these. */
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
