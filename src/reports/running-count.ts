// Counts orders by status and sums money. The first count reads all rows, each later one only the new rows. So even
// with ten million orders a count is fast and delays no request. Counting in the transaction of an order would make
// every order slower.

import type { MoneyChange } from "../db/reports/money-sums.ts";
import type { OrderChange, OrderCounts, OrderPosition } from "../db/reports/order-counts.ts";
import {
  type Counted,
  lastNumber,
  type Range,
  stepAbove,
  stepBelow,
} from "../db/reports/row-ranges.ts";
import type { Reader, ReadStore } from "../db/port/port.ts";

/** Rows counted in one step, which takes a few milliseconds. After it other requests are handled. */
const STEP = 4000;

export interface Changes {
  orders: OrderChange[];
  money: MoneyChange[];
}

/** A table whose rows never change, and the sum of a range of them. */
export interface MoneySource {
  table: "transfers" | "order_costs";
  sum: (reader: Reader, range: Range) => MoneyChange[];
}

export interface RunningCountOptions<Result> {
  store: ReadStore;
  /**
   * Age of a row after which no row with a lower number can still be committed. Several servers take numbers at once,
   * so younger rows are counted again each time. 0: rows are committed in the order of their numbers.
   */
  settlesAfterMs: number;
  now: () => number;
  /** Only rows created at this time or later count. */
  from: number;
  orders: OrderCounts;
  money: readonly MoneySource[];
  /** Adds `settled` to the figures for good. Returns the figures with `young` added, which the next call replaces. */
  take: (settled: Changes, young: Changes) => Result;
}

export interface RunningCount<Result> {
  /** Brings the count up to date. Concurrent calls share one count. */
  read: () => Promise<Result>;
  /** As `read`; null if the first count takes longer than `waitMs`. It continues in the background. */
  readWithin: (waitMs: number) => Promise<Result | null>;
}

type Position = OrderPosition & Record<MoneySource["table"], number>;
const START: Position = { orderId: 0, eventSeq: 0, transfers: 0, order_costs: 0 };
const ALL = Number.MAX_SAFE_INTEGER;

/** Creates a count. Nothing is read before the first call of `read`. */
export function createRunningCount<Result>({
  store,
  settlesAfterMs,
  now,
  from,
  orders,
  money,
  take,
}: RunningCountOptions<Result>): RunningCount<Result> {
  let position: Position | null = null;
  let counting: Promise<Result> | null = null;

  const settled = async (): Promise<Position> => {
    const before = settlesAfterMs === 0 ? ALL : now() - settlesAfterMs;
    const counted = position ?? START;
    return store.read((reader) => {
      // If the clock was set back, the last number found may be below the previous one.
      const last = (table: Counted, known: number) =>
        Math.max(known, lastNumber(reader, table, before));
      const found = { ...START };
      found.orderId = last("orders", counted.orderId);
      found.eventSeq = last("order_events", counted.eventSeq);
      for (const { table } of money) found[table] = last(table, counted[table]);
      return found;
    });
  };

  const firstCount = async (last: Position): Promise<Changes> => {
    const early = store.read((reader) => orders.early(reader, last, from));
    const counted = await down("orders", last.orderId, (reader, range) =>
      orders.at(reader, range, last.eventSeq),
    );
    const sums = [];
    for (const { table, sum } of money) sums.push(...(await down(table, last[table], sum)));
    return { orders: [...counted, ...(await early)], money: sums };
  };

  const added = async (before: Position, last: Position): Promise<Changes> => {
    const created = await up("orders", before.orderId, last.orderId, orders.added);
    const moved = await up("order_events", before.eventSeq, last.eventSeq, orders.moved);
    const sums = [];
    for (const { table, sum } of money) {
      sums.push(...(await up(table, before[table], last[table], sum)));
    }
    return { orders: [...created, ...moved], money: sums };
  };

  const youngChanges = async (last: Position): Promise<Changes> =>
    store.read((reader) => ({
      orders: orders.young(reader, last, from),
      money: money.flatMap(({ table, sum }) =>
        sum(reader, { after: last[table], upTo: ALL, from }),
      ),
    }));

  type Count<Change> = (reader: Reader, range: Range) => Change[];

  /** Counts the rows up to `last`, newest first, until a whole step of them is older than `from`. */
  const down = async <Change>(table: Counted, last: number, count: Count<Change>) => {
    const changes: Change[] = [];
    for (let upTo = last; upTo > 0;) {
      const { after, found } = await store.read((reader) => {
        const edge = stepBelow(reader, table, upTo, STEP);
        return { after: edge, found: count(reader, { after: edge, upTo, from }) };
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
        return { upTo: edge, found: count(reader, { after, upTo: edge, from }) };
      });
      changes.push(...found);
      after = upTo;
      if (after < last) await new Promise((resolve) => setImmediate(resolve));
    }
    return changes;
  };

  const refresh = async (): Promise<Result> => {
    const last = await settled();
    const changes = position ? await added(position, last) : await firstCount(last);
    const young = await youngChanges(last);
    position = last;
    return take(changes, young);
  };

  const read = (): Promise<Result> =>
    (counting ??= refresh().finally(() => {
      counting = null;
    }));

  const readWithin = async (waitMs: number): Promise<Result | null> => {
    const reading = read();
    if (position !== null) return reading;
    let timer: Timer | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), waitMs);
    });
    try {
      return await Promise.race([reading, timeout]);
    } finally {
      clearTimeout(timer);
    }
  };

  return { read, readWithin };
}
