// Counts orders by status and sums money in periods of five minutes, for the panel's figures of a day and its charts of
// a month. The first count reads the rows of the month, newest first (running-count.ts).

import { sumCosts, sumMoney } from "../db/reports/money-sums.ts";
import { ORDERS_BY_PERIOD, PERIOD_MS } from "../db/reports/order-counts.ts";
import type { ReadStore } from "../db/port/port.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders/order-statuses.ts";
import { DAY_MS } from "../domain/values/spans.ts";
import { type Changes, createRunningCount } from "./running-count.ts";
import { noCharges, noOrders } from "./status-counter.ts";

/** Number of days that are kept, including today. */
export const ACTIVITY_DAYS = 30;

/** Orders and money between two times, without test accounts. */
export interface Activity {
  /** Number of orders created, by their status now. */
  orders: Record<OrderStatus, number>;
  /** What the orders of each status were charged. */
  charges: Record<OrderStatus, bigint>;
  chargedMicros: bigint;
  refundedMicros: bigint;
  /** Change of the costs of orders; negative if costs fell. */
  costMicros: bigint;
}

/** Returns the activity from `from` until before `to`, both rounded down to whole periods. */
export type ActivityFigures = (from: number, to: number) => Activity;

/** Returns the figures; null if the first count takes longer than `waitMs`. It continues in the background. */
export type ActivityCounter = (waitMs: number) => Promise<ActivityFigures | null>;

type Periods = Map<number, Activity>;

/** Creates a counter. `settlesAfterMs`: as in RunningCountOptions. */
export function createActivityCounter(
  store: ReadStore,
  settlesAfterMs = 0,
  now: () => number = Date.now,
): ActivityCounter {
  const periods: Periods = new Map();
  return createRunningCount<ActivityFigures>({
    store,
    settlesAfterMs,
    now,
    from: startOfDay(now()) - (ACTIVITY_DAYS - 1) * DAY_MS,
    orders: ORDERS_BY_PERIOD,
    money: [
      { table: "transfers", sum: sumMoney },
      { table: "order_costs", sum: sumCosts },
    ],
    take(settled, newest) {
      apply(periods, settled);
      const end = startOfDay(now()) - ACTIVITY_DAYS * DAY_MS;
      for (const period of periods.keys()) if (period * PERIOD_MS < end) periods.delete(period);
      const young: Periods = new Map();
      apply(young, newest);
      return (start, to) => sumOf([periods, young], start, to);
    },
  }).readWithin;
}

/** Returns the start of the day of a time, in UTC. */
export function startOfDay(time: number): number {
  return time - (time % DAY_MS);
}

function nothing(): Activity {
  return {
    orders: noOrders(),
    charges: noCharges(),
    chargedMicros: 0n,
    refundedMicros: 0n,
    costMicros: 0n,
  };
}

function apply(periods: Periods, { orders, money }: Changes): void {
  for (const { period, status, isTest, orders: count, chargedMicros } of orders) {
    if (isTest) continue;
    const activity = inPeriod(periods, period);
    activity.orders[status] += count;
    activity.charges[status] += chargedMicros;
  }
  for (const { period, kind, isTest, micros } of money) {
    if (isTest) continue;
    const activity = inPeriod(periods, period);
    if (kind === "order") activity.chargedMicros += micros;
    if (kind === "cost") activity.costMicros += micros;
    if (kind === "refund" || kind === "partial_refund") activity.refundedMicros += micros;
  }
}

function inPeriod(periods: Periods, period: number): Activity {
  let activity = periods.get(period);
  if (!activity) periods.set(period, (activity = nothing()));
  return activity;
}

function sumOf(sources: readonly Periods[], from: number, to: number): Activity {
  const sum = nothing();
  const [first, end] = [Math.floor(from / PERIOD_MS), Math.floor(to / PERIOD_MS)];
  for (const periods of sources) {
    for (let period = first; period < end; period++) {
      const found = periods.get(period);
      if (!found) continue;
      for (const status of ORDER_STATUSES) {
        sum.orders[status] += found.orders[status];
        sum.charges[status] += found.charges[status];
      }
      sum.chargedMicros += found.chargedMicros;
      sum.refundedMicros += found.refundedMicros;
      sum.costMicros += found.costMicros;
    }
  }
  return sum;
}
