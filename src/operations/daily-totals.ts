// Counts rows into the totals of their days, a bounded number at a time. docs/specification.md#daily-totals.

import { stepAbove } from "../db/activity.ts";
import type { Tx } from "../db/port.ts";
import {
  addToTotals,
  lockPosition,
  type Position,
  readPosition,
  readTransactions,
  writePosition,
} from "../db/daily-totals.ts";
import { lastPosition, REPORT_SOURCES } from "../db/reports.ts";

/** Of a goal that was only seen. */
const NOT_STAMPED = 0;

export interface CountDailyTotals {
  /** Most rows of each kind that are counted. */
  limit: number;
}

/**
 * again: something was done, and more can be. waiting: rows below the goal may still be committed, call it later. reached:
 * the goal is; what has come since it was set is for the next one, since while orders come there is always more. done: nothing
 * is left.
 *
 * SQLite has one writer, so that it counts whatever is there. On PostgreSQL numbers are not committed in their order: a
 * transaction may still be open that took a number below one which is seen. It has locked its account before, and so its id
 * is below that of any transaction which begins after that was seen. So the goal is what one transaction sees, a later one
 * stamps it with its own id, and once no transaction below that is open, every row up to the goal is there or never will be.
 */
export function countDailyTotals(
  tx: Tx,
  { limit }: CountDailyTotals,
): "again" | "waiting" | "reached" | "done" {
  lockPosition(tx);
  const position = readPosition(tx);
  const { oldest, own } = readTransactions(tx);
  const { counted, goal, goalTransaction } = position;
  const isReached = REPORT_SOURCES.every((source) => counted[source] >= goal[source]);
  // A copy of another cluster's database holds all rows that it ever will: that one's ids mean nothing here.
  const isForeign = goalTransaction > own;
  if (isReached || isForeign) {
    const seen = lastPosition(tx);
    const isNew = REPORT_SOURCES.some((source) => seen[source] > counted[source]);
    if (!isNew) return "done";
    const next = { ...counted };
    for (const source of REPORT_SOURCES) next[source] = Math.max(counted[source], seen[source]);
    const sighted = { counted, goal: next, goalTransaction: NOT_STAMPED };
    if (own === NOT_STAMPED) return countUpTo(tx, sighted, limit);
    writePosition(tx, sighted);
    return "again";
  }
  if (own !== NOT_STAMPED && goalTransaction === NOT_STAMPED) {
    writePosition(tx, { counted, goal, goalTransaction: own });
    return "again";
  }
  return oldest < goalTransaction ? "waiting" : countUpTo(tx, position, limit);
}

function countUpTo(
  tx: Tx,
  { counted, goal, goalTransaction }: Position,
  limit: number,
): "again" | "reached" {
  const reached = { ...counted };
  for (const source of REPORT_SOURCES) {
    if (counted[source] >= goal[source]) continue;
    reached[source] = Math.min(stepAbove(tx, source, counted[source], limit), goal[source]);
  }
  addToTotals(tx, counted, reached);
  writePosition(tx, { counted: reached, goal, goalTransaction });
  return REPORT_SOURCES.every((source) => reached[source] >= goal[source]) ? "reached" : "again";
}
