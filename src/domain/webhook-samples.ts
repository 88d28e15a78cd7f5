// The event that a reseller has sent to its test endpoints without an order or a credit: the shape of a real one, with
// values that are made up. docs/specification.md#post-test-webhook.

import { MICROS_PER_DOLLAR } from "./money.ts";
import type { OrderStatus } from "./orders.ts";
import { serviceChangedData } from "./service-changes.ts";
import {
  balanceCreditedData,
  balanceLowData,
  orderEventData,
  type WebhookEventType,
} from "./webhook-events.ts";

const SERVICE = { id: "sample-service", name: "Sample service", min: 10, max: 10_000 };
const PRICE_MICROS = 2_320_000;
const QUANTITY = 1000;

/** Status, what it was before, what remains of QUANTITY, what of the charge is refunded. */
const ORDERS: Partial<
  Record<WebhookEventType, [OrderStatus, OrderStatus, remains: number, refundedMicros: number]>
> = {
  "order.processing": ["PROCESSING", "PENDING", QUANTITY, 0],
  "order.progress": ["PROCESSING", "PROCESSING", 400, 0],
  "order.completed": ["COMPLETED", "PROCESSING", 0, 0],
  "order.partial": ["PARTIAL", "PROCESSING", 500, PRICE_MICROS / 2],
  "order.failed": ["FAILED", "PROCESSING", QUANTITY, PRICE_MICROS],
  "order.cancelled": ["CANCELLED", "PROCESSING", QUANTITY, PRICE_MICROS],
  "order.refunded": ["REFUNDED", "COMPLETED", 0, PRICE_MICROS],
};

/** The `data` of such an event. `id`: of an order that there is not. */
export function sampleEventData(type: WebhookEventType, id: string, now: number): object {
  const sample = ORDERS[type];
  if (sample) return sampleOrder(id, now, ...sample);
  switch (type) {
    case "balance.credited":
      return balanceCreditedData(110 * MICROS_PER_DOLLAR, 10 * MICROS_PER_DOLLAR, "recharge");
    case "balance.low":
      return balanceLowData(9 * MICROS_PER_DOLLAR, 10 * MICROS_PER_DOLLAR);
    case "service.changed":
      return serviceChangedData(
        { ...SERVICE, priceMicros: PRICE_MICROS },
        { ...SERVICE, priceMicros: PRICE_MICROS * 2 },
      )!;
    default:
      return {};
  }
}

function sampleOrder(
  id: string,
  now: number,
  status: OrderStatus,
  before: OrderStatus,
  remains: number,
  refundedMicros: number,
): object {
  const order = {
    id,
    orderId: 1,
    serviceName: SERVICE.name,
    link: "https://test.invalid/sample",
    quantity: QUANTITY,
    chargeMicros: PRICE_MICROS,
    createdAt: now,
    startCount: 1000,
    reference: null,
    extra: null,
    sequence: 1,
  };
  return orderEventData({ ...order, status, remains, refundedMicros }, before);
}
