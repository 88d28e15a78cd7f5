// Orders by state and money in periods of five minutes, for the panel's figures of a day and its charts of a month. The
// first count reads the rows of the month, newest first. As with the status counter, each later count reads only rows added
// since then, so a page costs the same with ten million orders.

import {
  type Counted,
  countAddedOrders,
  countEarlyMovedOrders,
  countMovedOrders,
  countOrdersAt,
  countYoungOrders,
  lastMoney,
  type MoneyChange,
  type OrderChange,
  PERIOD_MS,
  stepAbove,
  stepBelow,
  sumCosts,
  sumMoney,
} from "../db/reports/activity.ts";
import type { Reader, ReadStore } from "../db/port/port.ts";
import { lastPosition } from "../db/reports/status-counts.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders/order-statuses.ts";
import { DAY_MS } from "../domain/values/spans.ts";

/** Rows counted in one step: this takes a few milliseconds, then other requests are handled. */
const STEP = 4000;
/** Number of days that are kept, including today. */
export const ACTIVITY_DAYS = 30;

/** What happened between two times, without the test side. */
export interface Activity {
  /** Orders that were created, by the state they are in now. */
  orders: Record<OrderStatus, number>;
  chargedMicros: bigint;
  refundedMicros: bigint;
  /** Growth of the costs of orders; negative if more was taken back. */
  costMicros: bigint;
}

/** Returns the activity from `from` until before `to`, both rounded down to whole periods. */
export type ActivityFigures = (from: number, to: number) => Activity;

/** Returns null if the first count takes longer than `patienceMs`; the count continues in the background. */
export type ActivityCounter = (patienceMs: number) => Promise<ActivityFigures | null>;

interface Position {
  orderId: number;
  eventSeq: number;
  transferSeq: number;
  costSeq: number;
}

interface Changes {
  orders: OrderChange[];
  money: MoneyChange[];
}

type Periods = Map<number, Activity>;

/** `settlesAfterMs`: as in createStatusCounter. */
export function createActivityCounter(
  store: ReadStore,
  settlesAfterMs = 0,
  now: () => number = Date.now,
): ActivityCounter {
  const periods: Periods = new Map();
  const from = startOfDay(now()) - (ACTIVITY_DAYS - 1) * DAY_MS;
  let position: Position | null = null;
  let counting: Promise<ActivityFigures> | null = null;

  const settled = async (): Promise<Position> => {
    const before = settlesAfterMs === 0 ? Number.MAX_SAFE_INTEGER : now() - settlesAfterMs;
    const last = await store.read((reader) => ({
      ...lastPosition(reader, before),
      transferSeq: lastMoney(reader, "transfers", before),
      costSeq: lastMoney(reader, "order_costs", before),
    }));
    // If the clock was set back, this position may be before the previous one.
    const { orderId = 0, eventSeq = 0, transferSeq = 0, costSeq = 0 } = position ?? {};
    return {
      orderId: Math.max(orderId, last.orderId),
      eventSeq: Math.max(eventSeq, last.eventSeq),
      transferSeq: Math.max(transferSeq, last.transferSeq),
      costSeq: Math.max(costSeq, last.costSeq),
    };
  };

  const refresh = async (): Promise<ActivityFigures> => {
    const last = await settled();
    const changes = position ? await added(position, last) : await firstCount(last);
    apply(periods, changes);
    position = last;
    const end = startOfDay(now()) - ACTIVITY_DAYS * DAY_MS;
    for (const period of periods.keys()) if (period * PERIOD_MS < end) periods.delete(period);
    const young: Periods = new Map();
    apply(young, await youngChanges(last));
    return (start, to) => sumOf([periods, young], start, to);
  };

  const firstCount = async (last: Position): Promise<Changes> => {
    const { eventSeq } = last;
    const early = store.read((reader) => countEarlyMovedOrders(reader, last, from));
    return {
      orders: [
        ...(await down("orders", last.orderId, (reader, range) =>
          countOrdersAt(reader, { ...range, from }, eventSeq),
        )),
        ...(await early),
      ],
      money: [
        ...(await down("transfers", last.transferSeq, (reader, range) =>
          sumMoney(reader, { ...range, from }),
        )),
        ...(await down("order_costs", last.costSeq, (reader, range) =>
          sumCosts(reader, { ...range, from }),
        )),
      ],
    };
  };

  const added = async (before: Position, last: Position): Promise<Changes> => {
    const orders = await up("orders", before.orderId, last.orderId, (reader, range) =>
      countAddedOrders(reader, { ...range, from }),
    );
    const moved = await up("order_events", before.eventSeq, last.eventSeq, (reader, range) =>
      countMovedOrders(reader, { ...range, from }),
    );
    const money = await up("transfers", before.transferSeq, last.transferSeq, (reader, range) =>
      sumMoney(reader, { ...range, from }),
    );
    const costs = await up("order_costs", before.costSeq, last.costSeq, (reader, range) =>
      sumCosts(reader, { ...range, from }),
    );
    return { orders: [...orders, ...moved], money: [...money, ...costs] };
  };

  const youngChanges = async (last: Position): Promise<Changes> =>
    store.read((reader) => ({
      orders: countYoungOrders(reader, last, from),
      money: [
        ...sumMoney(reader, { after: last.transferSeq, upTo: Number.MAX_SAFE_INTEGER, from }),
        ...sumCosts(reader, { after: last.costSeq, upTo: Number.MAX_SAFE_INTEGER, from }),
      ],
    }));

  type Count<Change> = (reader: Reader, range: { after: number; upTo: number }) => Change[];

  /** Counts the rows up to `last`, newest first, until a whole step of them is older than the month. */
  const down = async <Change>(table: Counted, last: number, count: Count<Change>) => {
    const changes: Change[] = [];
    for (let upTo = last; upTo > 0;) {
      const { after, found } = await store.read((reader) => {
        const edge = stepBelow(reader, table, upTo, STEP);
        return { after: edge, found: count(reader, { after: edge, upTo }) };
      });
      changes.push(...found);
      if (found.length === 0) break;
      upTo = after;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return changes;
  };

  const up = async <Change>(table: Counted, start: number, last: number, count: Count<Change>) => {
    const changes: Change[] = [];
    for (let after = start; after < last;) {
      const { upTo, found } = await store.read((reader) => {
        const edge = Math.min(stepAbove(reader, table, after, STEP), last);
        return { upTo: edge, found: count(reader, { after, upTo: edge }) };
      });
      changes.push(...found);
      after = upTo;
      if (after < last) await new Promise((resolve) => setImmediate(resolve));
    }
    return changes;
  };

  return async (patienceMs) => {
    counting ??= refresh().finally(() => {
      counting = null;
    });
    if (position !== null) return counting;
    let timer: Timer | undefined;
    const patience = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), patienceMs);
    });
    try {
      return await Promise.race([counting, patience]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Returns the start of the day of a time, in UTC. */
export function startOfDay(time: number): number {
  return time - (time % DAY_MS);
}

function nothing(): Activity {
  const orders = Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0]));
  return {
    orders: orders as Record<OrderStatus, number>,
    chargedMicros: 0n,
    refundedMicros: 0n,
    costMicros: 0n,
  };
}

function apply(periods: Periods, { orders, money }: Changes): void {
  for (const { period, status, isTest, orders: count } of orders) {
    if (!isTest) inPeriod(periods, period).orders[status] += count;
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
      for (const status of ORDER_STATUSES) sum.orders[status] += found.orders[status];
      sum.chargedMicros += found.chargedMicros;
      sum.refundedMicros += found.refundedMicros;
      sum.costMicros += found.costMicros;
    }
  }
  return sum;
}
