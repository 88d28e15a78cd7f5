// Late reports: statuses that providers reported for orders after their end here, and the operator's decisions.

import type { LateDecision } from "../../domain/orders/late-reports.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number, numbers } from "../port/table-definition.ts";
import { lateReports } from "../tables/orders.ts";

export interface LateReport {
  orderId: number;
  reported: OrderStatus;
  /** Our status of the order at that time. */
  status: OrderStatus;
  createdAt: number;
  /** The undelivered quantity of a PARTIAL; null if the provider stated an impossible one. */
  remains: number | null;
  /** Null: not yet decided. */
  decision: LateDecision | null;
  decidedAt: number | null;
}

export type NewLateReport = Omit<LateReport, "decision" | "decidedAt">;

const OF_ORDER = query({
  parameters: { orderId: number },
  columns: fields(lateReports),
  restrictedBy: ["orderId"],
  text: `SELECT ${select(lateReports)} FROM late_reports WHERE order_id = :orderId ORDER BY created_at, reported`,
});

const OPEN_OF = query({
  parameters: { orderIds: numbers },
  columns: fields(lateReports),
  text: `SELECT ${select(lateReports)} FROM late_reports
    WHERE order_id IN (:orderIds) AND decision IS NULL ORDER BY created_at, reported`,
});

const COUNT_OPEN = query({
  parameters: { providerId: number },
  columns: { late: number },
  text: `SELECT count(DISTINCT late_reports.order_id) AS "late" FROM late_reports
    JOIN orders ON orders.order_id = late_reports.order_id
    WHERE late_reports.decision IS NULL AND orders.provider_id = :providerId`,
});

/** All late reports of an order, oldest first. */
export function listLateReports(reader: Reader, orderId: number): LateReport[] {
  return reader.all(OF_ORDER, { orderId });
}

/** Lists the undecided late reports of an order, oldest first. The last one is the provider's latest. */
export function listOpenLateReports(reader: Reader, orderId: number): LateReport[] {
  return listLateReports(reader, orderId).filter(({ decision }) => decision === null);
}

/** The latest undecided report of each of these orders that has one, by order number. */
export function lastLateReports(
  reader: Reader,
  orderIds: readonly number[],
): Map<number, LateReport> {
  return new Map(reader.all(OPEN_OF, { orderIds }).map((report) => [report.orderId, report]));
}

/** Counts a provider's orders that have an undecided late report. */
export function countLate(reader: Reader, providerId: number): number {
  return reader.one(COUNT_OPEN, { providerId })!.late;
}

/**
 * Stores a report, once for each order and reported status. A repeated report with another `remains` updates an open
 * report and reopens a dismissed one. Returns whether anything changed.
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
