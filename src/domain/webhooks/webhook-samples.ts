// Sample events, which a reseller can have sent to its test endpoints without an order or a credit. They have the shape
// of real events, with made-up values. docs/specification/sandbox.md#post-test-webhook.

import { MICROS_PER_DOLLAR } from "../ledger/money.ts";
import type { OrderStatus } from "../orders/order-statuses.ts";
import { serviceChangedData } from "../catalogue/service-changes.ts";
import {
  balanceCreditedData,
  balanceLowData,
  orderEventData,
  type WebhookEventType,
} from "./webhook-events.ts";

const SERVICE = {
  id: "sample-service",
  name: "Sample service",
  per: "1000",
  min: 10,
  max: 10_000,
} as const;
const PRICE_MICROS = 2_320_000;
const QUANTITY = 1000;

/** Status, previous status, what remains of QUANTITY, and the refunded part of the charge. */
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

/** The `data` of a sample event. `id`: the id of the order, which does not exist. */
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
