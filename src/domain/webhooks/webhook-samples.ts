// Sample events, which a reseller can request for its test endpoints without an order or a credit. They have the form
// of real events, with made-up values. docs/specification/sandbox.md#post-test-webhook.

import { MICROS_PER_DOLLAR } from "../ledger/money.ts";
import { isOpenStatus, ORDER_STATUSES, type OrderStatus } from "../orders/order-statuses.ts";
import { callerTexts } from "../orders/order-members.ts";
import {
  decideTransition,
  type OrderTransition,
  transitionsFrom,
} from "../orders/order-transitions.ts";
import { serviceChangedData } from "../catalogue/service-changes.ts";
import {
  balanceCreditedData,
  balanceLowData,
  orderEventData,
  typeOfTransition,
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

/** Returns the `data` of a sample event. `id`: the id of its order, which does not exist. */
export function sampleEventData(type: WebhookEventType, id: string, now: number): object {
  const status = ORDER_STATUSES.find((to) => typeOfTransition(to) === type);
  if (status) return sampleTransition(id, now, status);
  switch (type) {
    case "order.progress":
      return sampleOrder(id, now, "PROCESSING", {
        status: "PROCESSING",
        remains: 400,
        refundMicros: 0,
      });
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

/** Returns the data of an order that changes to the status. For PARTIAL, half of it remains. */
function sampleTransition(id: string, now: number, to: OrderStatus): object {
  const leadsThere = (status: OrderStatus) => transitionsFrom(status).includes(to);
  const before = leadsThere("PROCESSING") ? "PROCESSING" : ORDER_STATUSES.find(leadsThere)!;
  const order = {
    status: before,
    quantity: QUANTITY,
    chargeMicros: PRICE_MICROS,
    refundedMicros: 0,
    remains: isOpenStatus(before) ? QUANTITY : 0,
  };
  return sampleOrder(id, now, before, decideTransition(order, to, QUANTITY / 2));
}

function sampleOrder(
  id: string,
  now: number,
  before: OrderStatus,
  { status, remains, refundMicros }: OrderTransition,
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
    ...callerTexts({}),
    extra: null,
    sequence: 1,
  };
  return orderEventData({ ...order, status, remains, refundedMicros: refundMicros }, before);
}
