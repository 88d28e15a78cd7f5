// Counts rows into the totals of their days, a bounded number at a time. docs/specification/reports.md#daily-totals.

import { stepAbove } from "../../db/reports/row-ranges.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  addToTotals,
  lockPosition,
  type Position,
  readPosition,
  readTransactions,
  writePosition,
} from "../../db/reports/daily-totals.ts";
import type { Context } from "../batch/context.ts";
import { lastPosition, REPORT_SOURCES } from "../../db/reports/reports.ts";

/** The transaction id of a goal that has not been stamped yet, and of every transaction on SQLite. */
const NOT_STAMPED = 0;

export interface CountDailyTotals {
  /** Maximum number of rows of each kind to count. */
  limit: number;
}

/**
 * Counts rows into the totals of their days. Returns:
 * - again: rows were counted or the goal was set; call it again.
 * - waiting: rows below the goal may still be committed; call it later.
 * - reached: all rows up to the goal are counted. The caller should stop: while orders arrive, there is always a next
 *   goal.
 * - done: nothing is left.
 *
 * SQLite has one writer, so every visible row can be counted. On PostgreSQL rows are not committed in the order of
 * their numbers: an open transaction may have taken a number below a visible one. Such a transaction got its id when it
 * locked its account, which was before it took the number. So one transaction sets the goal to the highest number that
 * it sees, and a later one stamps the goal with its own transaction id. When no transaction with a lower id is open,
 * each row up to the goal is visible or will never exist.
 */
export function countDailyTotals(
  tx: Tx,
  { limit }: CountDailyTotals,
  { now }: Context,
): "again" | "waiting" | "reached" | "done" {
  lockPosition(tx);
  const position = readPosition(tx);
  const { oldest, own } = readTransactions(tx);
  const { counted, goal, goalTransaction } = position;
  const isReached = REPORT_SOURCES.every((source) => counted[source] >= goal[source]);
  // The goal comes from a copy of another cluster's database. All its rows are visible, and its transaction ids mean
  // nothing here.
  const isForeign = goalTransaction > own;
  if (isReached || isForeign) {
    const seen = lastPosition(tx);
    const isNew = REPORT_SOURCES.some((source) => seen[source] > counted[source]);
    if (!isNew) return "done";
    const next = { ...counted };
    for (const source of REPORT_SOURCES) next[source] = Math.max(counted[source], seen[source]);
    const sighted = { counted, goal: next, goalTransaction: NOT_STAMPED };
    if (own === NOT_STAMPED) return countUpTo(tx, sighted, limit, now);
    writePosition(tx, sighted);
    return "again";
  }
  if (own !== NOT_STAMPED && goalTransaction === NOT_STAMPED) {
    writePosition(tx, { counted, goal, goalTransaction: own });
    return "again";
  }
  return oldest < goalTransaction ? "waiting" : countUpTo(tx, position, limit, now);
}

function countUpTo(
  tx: Tx,
  { counted, goal, goalTransaction }: Position,
  limit: number,
  now: number,
): "again" | "reached" {
  const reached = { ...counted };
  for (const source of REPORT_SOURCES) {
    if (counted[source] >= goal[source]) continue;
    reached[source] = Math.min(stepAbove(tx, source, counted[source], limit), goal[source]);
  }
  addToTotals(tx, counted, reached, now);
  writePosition(tx, { counted: reached, goal, goalTransaction });
  return REPORT_SOURCES.every((source) => reached[source] >= goal[source]) ? "reached" : "again";
}
