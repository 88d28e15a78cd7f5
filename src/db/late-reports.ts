// Late reports: the statuses that providers reported of orders that had ended here, and what the operator decided of them.

import type { LateDecision } from "../domain/late-reports.ts";
import type { OrderStatus } from "../domain/orders.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select } from "./query.ts";
import { number, numbers } from "./table-definition.ts";
import { lateReports } from "./tables.ts";

export interface LateReport {
  orderId: number;
  reported: OrderStatus;
  /** Our status of the order at that time. */
  status: OrderStatus;
  createdAt: number;
  /** Of a PARTIAL; null where an earlier version stored it. */
  remains: number | null;
  /** Null: nobody has decided yet. */
  decision: LateDecision | null;
  decidedAt: number | null;
}

export type NewLateReport = Omit<LateReport, "decision" | "decidedAt">;

const OF_ORDER = query({
  takes: { orderId: number },
  gives: fields(lateReports),
  within: ["orderId"],
  text: `SELECT ${select(lateReports)} FROM late_reports WHERE order_id = :orderId ORDER BY created_at, reported`,
});

const OPEN_OF = query({
  takes: { orderIds: numbers },
  gives: fields(lateReports),
  text: `SELECT ${select(lateReports)} FROM late_reports
    WHERE order_id IN (:orderIds) AND decision IS NULL ORDER BY created_at, reported`,
});

const COUNT_OPEN = query({
  takes: { providerId: number },
  gives: { late: number },
  text: `SELECT count(DISTINCT late_reports.order_id) AS "late" FROM late_reports
    JOIN orders ON orders.order_id = late_reports.order_id
    WHERE late_reports.decision IS NULL AND orders.provider_id = :providerId`,
});

/** Oldest first. */
export function listLateReports(reader: Reader, orderId: number): LateReport[] {
  return reader.all(OF_ORDER, { orderId });
}

/** Those that nobody has decided, oldest first: the last is what the provider says now. */
export function listOpenLateReports(reader: Reader, orderId: number): LateReport[] {
  return listLateReports(reader, orderId).filter(({ decision }) => decision === null);
}

/** What providers say now of those of the orders with a report that nobody has decided, by their numbers. */
export function lastLateReports(
  reader: Reader,
  orderIds: readonly number[],
): Map<number, LateReport> {
  return new Map(reader.all(OPEN_OF, { orderIds }).map((report) => [report.orderId, report]));
}

/** The orders of a provider with a late report that nobody has decided. */
export function countLate(reader: Reader, providerId: number): number {
  return reader.one(COUNT_OPEN, { providerId })!.late;
}

/**
 * Stored once for each order and reported status. One that was dismissed is open again when another number remains; of one
 * that is open the newest number counts. Returns whether anything is new.
 */
export function recordLateReport(tx: Tx, report: NewLateReport): boolean {
  const known = tx.row(lateReports.byKey, report.orderId, report.reported);
  if (!known) {
    tx.insert(lateReports, report);
    return true;
  }
  if (report.remains === null || report.remains === known.remains) return false;
  if (known.decision === "accepted") return false;
  const { remains, createdAt } = report;
  tx.update(lateReports, known, { remains, createdAt, decision: null, decidedAt: null });
  return true;
}

export function decideReports(
  tx: Tx,
  reports: readonly LateReport[],
  decisionOf: (report: LateReport) => LateDecision,
  decidedAt: number,
): void {
  for (const report of reports) {
    tx.update(lateReports, report, { decision: decisionOf(report), decidedAt });
  }
}
