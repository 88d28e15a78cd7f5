// From times to numbers. Lists are ordered by number, which only grows; times go back when the clock is put back.
// Triggers record each such step in clock_steps, so that between two steps times only grow and a time is found by
// binary search: some fifty reads of one row at ten million rows.

import { asc, eq, gte, lt, max, sql } from "drizzle-orm";
import { type Connection, prepared } from "./sqlite/connection.ts";
import { clockSteps, orders, transfers } from "./schema.ts";

export type NumberedTable = "orders" | "transfers";

/** Both ends included; null is open. Milliseconds. */
export interface TimeWindow {
  from: number | null;
  to: number | null;
}

/** Numbers from `first` to `last`, both included. */
export interface Span {
  first: number;
  last: number;
}

const queries = prepared((orm) => ({
  steps: orm
    .select({
      first: clockSteps.first,
      time: clockSteps.time,
      timeBefore: clockSteps.timeBefore,
    })
    .from(clockSteps)
    .where(eq(clockSteps.ledger, sql.placeholder("table")))
    .orderBy(asc(clockSteps.first))
    .prepare(),
  orders: {
    newest: orm
      .select({ number: max(orders.orderId) })
      .from(orders)
      .where(lt(orders.orderId, sql.placeholder("below")))
      .prepare(),
    timeAt: orm
      .select({ time: orders.createdAt })
      .from(orders)
      .where(gte(orders.orderId, sql.placeholder("number")))
      .orderBy(asc(orders.orderId))
      .limit(1)
      .prepare(),
  },
  transfers: {
    newest: orm
      .select({ number: max(transfers.seq) })
      .from(transfers)
      .where(lt(transfers.seq, sql.placeholder("below")))
      .prepare(),
    timeAt: orm
      .select({ time: transfers.createdAt })
      .from(transfers)
      .where(gte(transfers.seq, sql.placeholder("number")))
      .orderBy(asc(transfers.seq))
      .limit(1)
      .prepare(),
  },
}));

/** The numbers of all rows whose time is in the window, and of no others; newest first. */
export function spansWithin(
  connection: Connection,
  table: NumberedTable,
  { from, to }: TimeWindow,
): Span[] {
  if (from === null && to === null) return [{ first: 1, last: Number.MAX_SAFE_INTEGER }];
  const spans: Span[] = [];
  for (const run of monotonicRuns(connection, table)) {
    if ((to !== null && run.earliest > to) || (from !== null && run.latest < from)) continue;
    const first = from === null ? run.first : firstAt(connection, table, run, from);
    const last = to === null ? run.last : firstAt(connection, table, run, to + 1) - 1;
    if (first <= last) spans.push({ first, last });
  }
  return spans.reverse();
}

/** Rows between two steps of the clock, whose times only grow. `last` exists: after a restore numbers have gaps. */
interface Run extends Span {
  earliest: number;
  latest: number;
}

function monotonicRuns(connection: Connection, table: NumberedTable): Run[] {
  const steps = queries(connection).steps.all({ table });
  const { newest } = queries(connection)[table];
  return [null, ...steps].map((step, index) => {
    const next = steps[index];
    return {
      first: step?.first ?? 1,
      last: newest.get({ below: next?.first ?? Number.MAX_SAFE_INTEGER })?.number ?? 0,
      earliest: step?.time ?? -Infinity,
      latest: next?.timeBefore ?? Infinity,
    };
  });
}

/** The first number of the run with a time from `time` on; one past the run when there is none. */
function firstAt(connection: Connection, table: NumberedTable, run: Run, time: number): number {
  const { timeAt } = queries(connection)[table];
  let low = run.first;
  let high = run.last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (timeAt.get({ number: middle })!.time >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}
