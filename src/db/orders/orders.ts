// Orders: finding one by its id, inserting and updating. Orders as the API returns them are in public-orders.ts, lists in
// operator-orders.ts.

import { ORDER_ID_PATTERN, ORDER_NUMBER_PATTERN } from "../../domain/orders/orders.ts";
import { FINAL_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { statusList } from "./order-statuses.ts";
import type { Delivery } from "../../domain/delivery/deliveries.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import type { PriceUnit } from "../../domain/catalogue/services.ts";
import type { Reader, Tx } from "../port/port.ts";
import { statement } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { type OrderRow, orders } from "../tables/orders.ts";

export interface Order {
  /** The order number. Numbers only grow. */
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
  /** The caller's reference; null when it gave none. */
  reference: string | null;
  /** How many events it has had: transitions and changes of progress. */
  sequence: number;
  /** Its service type and extra fields, as JSON (OrderExtra); null: only a link and a quantity. */
  extra: string | null;
  /** Null: the service is manual. */
  delivery: Delivery | null;
}

export type NewOrder = Omit<Order, "orderId" | "refundedMicros" | "startCount" | "sequence">;

export interface ListedOrder extends Order {
  username: string;
}

/** Patterns of the two ids of an order: its number as digits without a leading zero, and the cuid2. */
export const NUMERIC_ID = new RegExp(ORDER_NUMBER_PATTERN);
export const CUID = new RegExp(ORDER_ID_PATTERN);

/** Finds an order by its number or its cuid2. */
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
  // Copied field by field, because `{ delivery, ...rest }` takes a microsecond.
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

/** Writes the columns that may change, where they differ: status, counts, refunded amount, sequence and delivery. */
export function updateOrder(tx: Tx, order: Order): void {
  const { status, startCount, remains, refundedMicros, sequence, delivery } = order;
  const changes = { status, startCount, remains, refundedMicros, sequence };
  tx.update(orders, order, { ...changes, ...delivery });
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
/** SQL for how many orders the operator must settle. Test orders are left to their developers. */
export const UNKNOWN_PLACEMENTS = `SELECT count(*) FROM orders
  WHERE placement = 'unknown' AND status = 'PENDING' AND ${LIVE_ORDER_CONDITION}`;
export const IS_TEST_ORDER = `orders.provider_id = ${SANDBOX_PROVIDER}`;

/** Converts a row. A CHECK ensures that it has provider, service and a placement other than `manual`, or none of them. */
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
