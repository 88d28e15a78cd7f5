// Counts rows into the totals of their days, a bounded number at a time. docs/decisions/0057.

import type { Tx } from "../db/port.ts";
import {
  addToTotals,
  type Position,
  readPosition,
  readTransactions,
  writePosition,
} from "../db/daily-totals.ts";
import { lastPosition, REPORT_SOURCES, type ReportPosition, sumStep } from "../db/reports.ts";
import type { Context } from "./context.ts";

/** Any day. */
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER };

export interface CountDailyTotals {
  /** The last rows that were seen, in an earlier transaction than this one. */
  seen: ReportPosition;
  /** Most rows of each kind that are counted. */
  limit: number;
}

/**
 * counted: call it again. waiting: rows below the goal may still be committed, call it later. done: nothing is left.
 *
 * On PostgreSQL numbers are not committed in their order. A transaction that took a number below one which is there has locked its
 * account before, and so has an id below that of a transaction which begins after that was seen: this one's, when the
 * goal is set. Once no transaction below it is open, every row up to the goal is there or never will be.
 */
export function countDailyTotals(
  tx: Tx,
  { seen, limit }: CountDailyTotals,
  _: Context,
): "counted" | "waiting" | "done" {
  const { counted, goal, goalTransaction } = readPosition(tx);
  const { oldest, own } = readTransactions(tx);
  const isReached = REPORT_SOURCES.every((source) => counted[source] >= goal[source]);
  // The rows of a database that was copied elsewhere are all there: its transactions' ids mean nothing here.
  const isForeign = goalTransaction > own;
  if (isReached || isForeign) {
    const isNew = REPORT_SOURCES.some((source) => seen[source] > counted[source]);
    if (!isNew) return "done";
    const next = atLeast(counted, seen);
    // SQLite's writer is alone.
    if (own !== 0) {
      writePosition(tx, { counted, goal: next, goalTransaction: own });
      return "waiting";
    }
    return countUpTo(tx, { counted, goal: next, goalTransaction: 0 }, limit);
  }
  if (oldest < goalTransaction) return "waiting";
  return countUpTo(tx, { counted, goal, goalTransaction }, limit);
}

function countUpTo(tx: Tx, { counted, goal, goalTransaction }: Position, limit: number): "counted" {
  const reached = { ...counted };
  const parts = REPORT_SOURCES.flatMap((source) => {
    if (counted[source] >= goal[source]) return [];
    const span = { first: counted[source] + 1, last: goal[source] };
    const step = sumStep(tx, source, span, EVER, limit);
    reached[source] = step.next ? step.next.first - 1 : goal[source];
    return step.parts;
  });
  addToTotals(tx, parts);
  writePosition(tx, { counted: reached, goal, goalTransaction });
  return "counted";
}

function atLeast(counted: ReportPosition, seen: ReportPosition): ReportPosition {
  const next = { ...counted };
  for (const source of REPORT_SOURCES) next[source] = Math.max(counted[source], seen[source]);
  return next;
}

/** For a caller of countDailyTotals. */
export { lastPosition };
