// Orders by state without counting all of them at every scrape: the first one counts, each later one adds what has
// changed since. Ten million orders neither slow a scrape down nor delay a request; a counting trigger would make every
// order slower.

import type { Connection } from "../db/sqlite/connection.ts";
import { readInOwnSnapshot } from "../db/sqlite/snapshot.ts";
import {
  countFirstStatuses,
  countTransitions,
  countStatuses,
  lastPosition,
  nextOrder,
  type Position,
} from "../db/status-counts.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders.ts";

/** Rows that are counted in one step: a few milliseconds, then other requests are handled. */
const STEP = 20_000;

export type StatusCounts = Record<OrderStatus, number>;

/** `connection`: of its own, because a count is one long read transaction. */
export function createStatusCounter(connection: Connection): () => Promise<StatusCounts> {
  let counts: StatusCounts | null = null;
  let position: Position = { orderId: 0, eventSeq: 0 };
  let counting: Promise<StatusCounts> | null = null;

  const refresh = async (): Promise<StatusCounts> => {
    const fresh = counts ? { ...counts } : noOrders();
    const count = counts ? countFirstStatuses : countStatuses;
    const last = lastPosition(connection);
    const next = (after: number) => nextOrder(connection, after);
    for await (const [after, upTo] of steps(position.orderId, last.orderId, next)) {
      for (const { status, orders } of count(connection, after, upTo)) fresh[status] += orders;
    }
    for await (const [after, upTo] of steps(position.eventSeq, counts ? last.eventSeq : 0)) {
      for (const { fromStatus, toStatus, orders } of countTransitions(connection, after, upTo)) {
        fresh[fromStatus] -= orders;
        fresh[toStatus] += orders;
      }
    }
    position = last;
    return (counts = fresh);
  };
  return () =>
    (counting ??= readInOwnSnapshot(connection, refresh).finally(() => {
      counting = null;
    }));
}

function noOrders(): StatusCounts {
  return Object.fromEntries(ORDER_STATUSES.map((status) => [status, 0])) as StatusCounts;
}

/** `next` finds the first number above another: numbers may have gaps, and a wide one costs no more than a narrow one. */
async function* steps(
  after: number,
  upTo: number,
  next = (number: number) => number + 1,
): AsyncGenerator<[number, number]> {
  for (let start = after; start < upTo; start = next(start + STEP) - 1) {
    if (start > after) await new Promise((resolve) => setImmediate(resolve));
    yield [start, Math.min(start + STEP, upTo)];
  }
}
