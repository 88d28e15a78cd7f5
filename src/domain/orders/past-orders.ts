// Past orders: orders that ended in another panel and were imported under their numbers there. They moved no money here
// and never change. docs/specification/imports.md#past-orders.

import { OPEN_STATUSES, type OrderStatus, refundIn } from "./order-statuses.ts";
import type { PublicOrder } from "./order-members.ts";

export type PastStatus = Exclude<OrderStatus, "PENDING" | "PROCESSING">;

export function isPastStatus(status: OrderStatus): status is PastStatus {
  return !OPEN_STATUSES.includes(status);
}

/** The fields that the API returns. */
export interface PastOrderFields {
  orderId: number;
  serviceName: string;
  link: string;
  quantity: number;
  chargeMicros: number;
  status: PastStatus;
  startCount: number;
  remains: number;
  createdAt: number;
}

const ID_PREFIX = "past";
const ID_DIGITS = 20;
const ID = /^past(\d{20})$/;

/** Returns the id of a past order, which has the form of the ids of other orders and contains its number. */
export function pastOrderId(orderId: number): string {
  return ID_PREFIX + String(orderId).padStart(ID_DIGITS, "0");
}

/** Returns the number in the id of a past order; null for any other text. */
export function numberInPastId(id: string): number | null {
  const [, digits] = ID.exec(id) ?? [];
  const orderId = Number(digits ?? 0);
  return Number.isSafeInteger(orderId) && orderId > 0 ? orderId : null;
}

/** Returns the order as the API returns orders. */
export function publicPastOrder(order: PastOrderFields): PublicOrder {
  const { orderId, serviceName, link, quantity, chargeMicros, status, startCount } = order;
  const { remains, createdAt } = order;
  return {
    id: pastOrderId(orderId),
    orderId,
    serviceName,
    link,
    quantity,
    chargeMicros,
    status,
    startCount,
    remains,
    createdAt,
    reference: null,
    extra: null,
  };
}

/** Returns the order with what it cost in the end: what was called off or refunded there cost nothing. */
export function pastOrderOutcome<Order extends PastOrderFields>(order: Order) {
  const { chargeMicros, status } = order;
  const refundedMicros = refundIn(status) === "everything" ? chargeMicros : 0;
  return { ...order, id: pastOrderId(order.orderId), refundedMicros };
}
