// Late reports: what a provider reported about an order that had already ended. The operator accepts or dismisses them.
// docs/specification/delivery.md#polling-late.

import { decideLateReport } from "../../domain/orders/late-reports.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { Micros } from "../../domain/ledger/money.ts";
import type { OrderTransition } from "../../domain/orders/order-transitions.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  decideReports,
  type LateReport,
  listOpenLateReports,
} from "../../db/orders/late-reports.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { applyTransition } from "./order-transitions.ts";
import { requireOrder } from "./orders.ts";

/** The newest late report of an order, and the transition that accepting it would make now. */
export interface LatePreview {
  order: Order;
  report: LateReport;
  transition: OrderTransition;
}

/** Previews what accepting would do. Refuses: order_not_found, late_report_absent, what decideLateReport refuses. */
export function previewLateReport(reader: Reader, id: string, remains: number | null): LatePreview {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  return preview(order, listOpenLateReports(reader, order.orderId), remains);
}

/** Previews accepting the newest report, which is what the provider says now. */
function preview(order: Order, open: readonly LateReport[], remains: number | null): LatePreview {
  const report = open.at(-1);
  if (!report) throw refusal("late_report_absent");
  const late = { reported: report.reported, remains: report.remains ?? remains };
  return { order, report, transition: decideLateReport(order, late) };
}

export interface AcceptLateReport {
  /** Either id of the order. */
  id: string;
  /** What remains, for a PARTIAL report that was stored without it; otherwise null. */
  remains: number | null;
  /** The report and refund that the operator confirmed; absent: whatever they are now. */
  confirmed?: { reported: OrderStatus; refundMicros: Micros };
  note: string | null;
  publicNote?: string | null;
  actor: Actor;
}

/**
 * Accepts the newest report: sets the order to its status, with the refund, and dismisses the earlier open reports.
 * Refuses: order_not_found, late_report_absent, what decideLateReport refuses, order_changed, nothing_refunded.
 */
export function acceptLateReport(tx: Tx, command: AcceptLateReport, context: Context): Order {
  const { confirmed, actor, note, publicNote = null } = command;
  const found = requireOrder(tx, command.id);
  const open = listOpenLateReports(tx, found.orderId);
  const { order, report, transition } = preview(found, open, command.remains);
  const { refundMicros } = transition;
  const { reported } = report;
  if (confirmed && (confirmed.reported !== reported || confirmed.refundMicros !== refundMicros)) {
    throw refusal("order_changed");
  }
  if (publicNote !== null && refundMicros === 0) throw refusal("nothing_refunded");
  // Nothing is refused from here on.
  decideReports(tx, open, (each) => (each === report ? "accepted" : "dismissed"), context.now);
  auditDecision(tx, order, { reported, decision: "accepted" }, actor, context);
  return applyTransition(tx, order, transition, { actor, note, publicNote }, context);
}

export interface DismissLateReports {
  /** Either id of the order. */
  id: string;
  note: string | null;
  actor: Actor;
}

/** Dismisses all open late reports: the order stays as it is. Refuses: order_not_found, late_report_absent. */
export function dismissLateReports(tx: Tx, command: DismissLateReports, context: Context): Order {
  const order = requireOrder(tx, command.id);
  const open = listOpenLateReports(tx, order.orderId);
  const newest = open.at(-1);
  if (!newest) throw refusal("late_report_absent");
  // Late reports, like changes of the order itself, are written under the lock of its account.
  tx.lock(order.resellerAccount);
  decideReports(tx, open, () => "dismissed", context.now);
  const decision = {
    reported: newest.reported,
    decision: "dismissed" as const,
    note: command.note,
  };
  auditDecision(tx, order, decision, command.actor, context);
  return order;
}

function auditDecision(
  tx: Tx,
  { orderId, resellerAccount: account }: Order,
  after: { reported: OrderStatus; decision: "accepted" | "dismissed"; note?: string | null },
  actor: Actor,
  context: Context,
): void {
  const subject = String(orderId);
  audit(tx, context, { actor, action: "order.late", subject, account, before: null, after });
}
