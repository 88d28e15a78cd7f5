// Counts orders by status and what they were charged, with running-count.ts, for the metrics and the panel's list.

import { ORDERS } from "../db/reports/order-counts.ts";
import type { ReadStore } from "../db/port/port.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders/order-statuses.ts";
import { type Changes, createRunningCount, type RunningCount } from "./running-count.ts";

export type StatusCounts = Record<OrderStatus, number>;
export type StatusCharges = Record<OrderStatus, bigint>;

/** Counts of live orders and of test orders, and the charges of the live ones in micros. */
export interface OrderCounts {
  live: StatusCounts;
  test: StatusCounts;
  charges: StatusCharges;
}

/** Creates a counter. `settlesAfterMs`: as in RunningCountOptions. */
export function createStatusCounter(
  store: ReadStore,
  settlesAfterMs = 0,
  now: () => number = Date.now,
): RunningCount<OrderCounts> {
  const counts: OrderCounts = { live: noOrders(), test: noOrders(), charges: noCharges() };
  return createRunningCount({
    store,
    settlesAfterMs,
    now,
    from: 0,
    orders: ORDERS,
    money: [],
    take(settled, young) {
      add(counts, settled);
      const { live, test, charges } = counts;
      const all = { live: { ...live }, test: { ...test }, charges: { ...charges } };
      add(all, young);
      return all;
    },
  });
}

export function noOrders(): StatusCounts {
  return Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0])) as StatusCounts;
}

export function noCharges(): StatusCharges {
  return Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0n])) as StatusCharges;
}

function add(counts: OrderCounts, { orders }: Changes): void {
  for (const { status, isTest, orders: count, chargedMicros } of orders) {
    counts[isTest ? "test" : "live"][status] += count;
    if (!isTest) counts.charges[status] += chargedMicros;
  }
}
