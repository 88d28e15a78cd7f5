// Counts orders by status for the metrics, with running-count.ts.

import { ORDERS } from "../db/reports/order-counts.ts";
import type { ReadStore } from "../db/port/port.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders/order-statuses.ts";
import { type Changes, createRunningCount } from "./running-count.ts";

export type StatusCounts = Record<OrderStatus, number>;

/** Counts of live orders and of test orders. */
export interface OrderCounts {
  live: StatusCounts;
  test: StatusCounts;
}

/** Creates a counter. `settlesAfterMs`: as in RunningCountOptions. */
export function createStatusCounter(
  store: ReadStore,
  settlesAfterMs = 0,
  now: () => number = Date.now,
): () => Promise<OrderCounts> {
  const counts: OrderCounts = { live: noOrders(), test: noOrders() };
  const { read } = createRunningCount({
    store,
    settlesAfterMs,
    now,
    from: 0,
    orders: ORDERS,
    money: [],
    take(settled, young) {
      add(counts, settled);
      const all = { live: { ...counts.live }, test: { ...counts.test } };
      add(all, young);
      return all;
    },
  });
  return read;
}

export function noOrders(): StatusCounts {
  return Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0])) as StatusCounts;
}

function add(counts: OrderCounts, { orders }: Changes): void {
  for (const { status, isTest, orders: count } of orders) {
    counts[isTest ? "test" : "live"][status] += count;
  }
}
