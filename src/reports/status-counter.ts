// Counts orders by state without counting all of them at every scrape. The first scrape counts; each later one adds the
// changes since then. Ten million orders neither slow down a scrape nor delay a request. A counting trigger would make
// every order slower.

import type { ReadStore } from "../db/port/port.ts";
import {
  countChangesSince,
  countEarlyTransitions,
  countFirstStatuses,
  countStatusesAt,
  countTransitions,
  lastPosition,
  nextOrder,
  type Position,
  type StatusChange,
  type TransitionCount,
} from "../db/reports/status-counts.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders/order-statuses.ts";

/** Rows counted in one step: this takes a few milliseconds, then other requests are handled. */
const STEP = 20_000;

export type StatusCounts = Record<OrderStatus, number>;

/** Counts of live orders and of test orders. */
export interface OrderCounts {
  live: StatusCounts;
  test: StatusCounts;
}

/**
 * `settlesAfterMs` is how long after its creation a row can still be committed below existing rows, because several servers
 * number them; 0 if rows are committed in the order of their numbers. Younger rows are counted again each time.
 */
export function createStatusCounter(
  store: ReadStore,
  settlesAfterMs = 0,
  now: () => number = Date.now,
): () => Promise<OrderCounts> {
  let counts: OrderCounts | null = null;
  let position: Position = { orderId: 0, eventSeq: 0 };
  let counting: Promise<OrderCounts> | null = null;

  const settled = async (): Promise<Position> => {
    const before = settlesAfterMs === 0 ? Number.MAX_SAFE_INTEGER : now() - settlesAfterMs;
    const { orderId, eventSeq } = await store.read((reader) => lastPosition(reader, before));
    // If the clock was set back, this position may be before the previous one.
    return {
      orderId: Math.max(orderId, position.orderId),
      eventSeq: Math.max(eventSeq, position.eventSeq),
    };
  };

  const refresh = async (): Promise<OrderCounts> => {
    const last = await settled();
    counts = counts ? await updated(counts, last) : await firstCount(last);
    position = last;
    return withNewest(counts);
  };

  const firstCount = async (last: Position): Promise<OrderCounts> => {
    const fresh = { live: noOrders(), test: noOrders() };
    for await (const [from, to] of steps(0, last.orderId, next)) {
      add(fresh, await store.read((reader) => countStatusesAt(reader, from, to, last.eventSeq)));
    }
    move(fresh, await store.read((reader) => countEarlyTransitions(reader, last)));
    return fresh;
  };

  const updated = async (before: OrderCounts, last: Position): Promise<OrderCounts> => {
    const fresh = copyOf(before);
    for await (const [from, to] of steps(position.orderId, last.orderId, next)) {
      add(fresh, await store.read((reader) => countFirstStatuses(reader, from, to)));
    }
    for await (const [from, to] of steps(position.eventSeq, last.eventSeq)) {
      move(fresh, await store.read((reader) => countTransitions(reader, from, to)));
    }
    return fresh;
  };

  const next = (number: number) => store.read((reader) => nextOrder(reader, number));

  const withNewest = async (settledCounts: OrderCounts): Promise<OrderCounts> => {
    const all = copyOf(settledCounts);
    add(all, await store.read((reader) => countChangesSince(reader, position)));
    return all;
  };

  return () =>
    (counting ??= refresh().finally(() => {
      counting = null;
    }));
}

function noOrders(): StatusCounts {
  return Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0])) as StatusCounts;
}

function copyOf({ live, test }: OrderCounts): OrderCounts {
  return { live: { ...live }, test: { ...test } };
}

function add(counts: OrderCounts, found: readonly StatusChange[]): void {
  for (const { status, isTest, orders } of found)
    counts[isTest ? "test" : "live"][status] += orders;
}

function move(counts: OrderCounts, found: readonly TransitionCount[]): void {
  for (const { fromStatus, toStatus, isTest, orders } of found) {
    const side = counts[isTest ? "test" : "live"];
    side[fromStatus] -= orders;
    side[toStatus] += orders;
  }
}

/**
 * Yields the steps of a range. `next` finds the first number above another, so that a wide gap costs no more than a
 * narrow one.
 */
async function* steps(
  start: number,
  end: number,
  next: (number: number) => number | Promise<number> = (number) => number + 1,
): AsyncGenerator<[number, number]> {
  for (let from = start; from < end; from = (await next(from + STEP)) - 1) {
    if (from > start) await new Promise((resolve) => setImmediate(resolve));
    yield [from, Math.min(from + STEP, end)];
  }
}
