// Polling: takes the orders whose poll is due, and applies what their provider reports.
// docs/specification/delivery.md#polling.

import { decideReport, nextPollAt, type Report } from "../../domain/delivery/polling.ts";
import { withProgress } from "../../domain/orders/order-transitions.ts";
import { isOpenStatus, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { spreadJitter } from "../../domain/values/jitter.ts";
import { type Need, needRow, type Tx } from "../../db/port/port.ts";
import { unrecognizedNumbers } from "../../db/tables/delivery.ts";
import { orderRequests, orders } from "../../db/tables/orders.ts";
import { recordLateReport } from "../../db/orders/late-reports.ts";
import { listDuePolls, updatePolled, updateNextPoll } from "../../db/delivery/polling.ts";
import {
  deleteUnrecognizedNumber,
  insertUnrecognizedNumber,
} from "../../db/delivery/unrecognized-numbers.ts";
import { updateOrder } from "../../db/orders/orders.ts";
import { getOrder, type OrderWithDelivery } from "../../db/delivery/deliveries.ts";
import { updateLastSuccess } from "../../db/providers/providers.ts";
import type { Context } from "../batch/context.ts";
import { decideCosts, noteCurrencies, writeCost } from "./costs.ts";
import { applyTransition, SYSTEM_ACTOR } from "../orders/order-transitions.ts";
import { recordProgressEvent } from "../webhooks/webhook-events.ts";

export interface TakeDuePolls {
  providerId: number;
  limit: number;
  pollIntervalMs: number;
  /** 0 to 1. */
  jitter: number;
}

export interface DuePoll {
  orderId: number;
  providerOrder: string;
}

/**
 * Returns the orders whose poll is due, most overdue first. The next poll of each is scheduled here, before the
 * provider is asked: if this poll fails, they are polled again later and do not delay the orders behind them.
 */
export function takeDuePolls(tx: Tx, command: TakeDuePolls, context: Context): DuePoll[] {
  const { providerId, limit, pollIntervalMs } = command;
  const due = listDuePolls(tx, providerId, context.now, limit);
  tx.each(due, (order, index) => {
    const at = nextPollAt(
      { status: order.status, changedAt: order.changedAt! },
      context.now,
      pollIntervalMs,
      spreadJitter(command.jitter, index),
    );
    updateNextPoll(tx, order.orderId, at);
  });
  return due.map(({ orderId, providerOrder }) => ({ orderId, providerOrder: providerOrder! }));
}

export interface RecordReports {
  providerId: number;
  /** `providerOrder`: the order's number at the provider when it was polled. */
  reports: { orderId: number; providerOrder?: string; report: Report }[];
  pollIntervalMs: number;
  jitter: number;
}

/** A report that was not applied, for the log. */
export interface ReportNotice {
  orderId: number;
  /** `invalid`: not understood. `late`: after the order's end. `failed`: understood, but applying it threw. */
  kind: "invalid" | "late" | "failed";
  text: string;
}

/** Applies reports. A report that cannot be applied is rolled back; the other reports are not. */
export function recordReports(tx: Tx, command: RecordReports, context: Context): ReportNotice[] {
  const reports = tx
    .each(command.reports, (entry) =>
      isOfNumber(getOrder(tx, entry.orderId), entry) ? entry : null,
    )
    .filter((entry) => entry !== null);
  const costs = decideCosts(tx, command.providerId, reports);
  const notices = tx.each(reports, (entry, index): ReportNotice | null => {
    const { orderId, report } = entry;
    const jitter = spreadJitter(command.jitter, index);
    const recorded = tx.attempt(() => {
      const notice = recordReport(tx, entry, command.pollIntervalMs, jitter, context);
      const cost = costs.get(orderId);
      if (cost) writeCost(tx, orderId, cost, context);
      return notice;
    });
    if ("threw" in recorded) return { orderId, kind: "failed", text: String(recorded.threw) };
    return recorded.done && { orderId, kind: recorded.done, text: report.text };
  });
  updateLastSuccess(tx, command.providerId, context.now);
  noteCurrencies(tx, command.providerId, reports, costs);
  return notices.filter((notice) => notice !== null);
}

export function needsOfReports({ reports }: RecordReports): Need[] {
  return reports.flatMap(({ orderId }) => [
    needRow(orders.byKey, orderId),
    needRow(orderRequests.byOpen, orderId, "cancel"),
    needRow(unrecognizedNumbers.byKey, orderId),
  ]);
}

/** Returns whether the report is about this order, whose number may have been corrected during the poll. */
function isOfNumber(
  { delivery }: OrderWithDelivery,
  { providerOrder }: RecordReports["reports"][number],
): boolean {
  return providerOrder === undefined || providerOrder === delivery.providerOrder;
}

function recordReport(
  tx: Tx,
  { orderId, report }: RecordReports["reports"][number],
  pollIntervalMs: number,
  jitter: number,
  context: Context,
): "invalid" | "late" | null {
  const order = getOrder(tx, orderId);
  const { delivery } = order;
  noteRecognition(tx, order, report, context);
  const decision = decideReport({ ...order, reported: delivery.reported }, report);
  switch (decision.kind) {
    case "ignore":
      return "invalid";
    case "late": {
      const { reported, remains } = decision;
      const { status } = order;
      const late = { orderId, reported, status, remains, createdAt: context.now };
      updateOrder(tx, { ...order, delivery: { ...delivery, reported, polledAt: context.now } });
      return recordLateReport(tx, late) ? "late" : null;
    }
    case "progress":
      recordProgress(tx, order, report, decision, pollIntervalMs, jitter, context);
      return null;
    case "transition": {
      const { transition, reported, startCount } = decision;
      const cause = { actor: SYSTEM_ACTOR, note: `the provider reported ${report.word!.trim()}` };
      const after = { status: transition.status, changedAt: context.now };
      const pollAt = pollAtOf(report, after, context.now, pollIntervalMs, jitter);
      const changes = { reported, polledAt: context.now, nextPollAt: pollAt };
      applyTransition(tx, order, transition, cause, context, { startCount, delivery: changes });
      return null;
    }
  }
}

/** Records whether the provider recognizes the number of an order that it has not reported about yet. */
function noteRecognition(
  tx: Tx,
  { orderId, resellerAccount, status, delivery }: OrderWithDelivery,
  report: Report,
  { now }: Context,
): void {
  if (delivery.reported !== null) return;
  if (report.word !== null) return deleteUnrecognizedNumber(tx, orderId);
  if (!report.isUnrecognized || !isOpenStatus(status) || delivery.providerOrder === null) return;
  tx.lock(resellerAccount);
  const { providerOrder } = delivery;
  insertUnrecognizedNumber(tx, { orderId, providerOrder, cause: report.text, createdAt: now });
}

/** Records progress. Without a change it only updates polledAt, and the next poll if the report says when. */
function recordProgress(
  tx: Tx,
  order: OrderWithDelivery,
  report: Report,
  progress: { startCount: number; remains: number; reported: OrderStatus },
  pollIntervalMs: number,
  jitter: number,
  context: Context,
): void {
  const { startCount, remains, reported } = progress;
  const { delivery } = order;
  const progressed = withProgress(order, startCount, remains);
  const hasMoved = progressed.sequence > order.sequence;
  const { now } = context;
  const open = isOpenStatus(order.status);
  if (!hasMoved && reported === delivery.reported) {
    updatePolled(tx, order.orderId, now);
    if (open && report.pollInMs != null) updateNextPoll(tx, order.orderId, now + report.pollInMs);
    return;
  }
  updateOrder(tx, {
    ...progressed,
    delivery: {
      ...delivery,
      reported,
      polledAt: now,
      changedAt: open ? now : delivery.changedAt,
      nextPollAt: open
        ? pollAtOf(report, { status: order.status, changedAt: now }, now, pollIntervalMs, jitter)
        : delivery.nextPollAt,
    },
  });
  if (hasMoved) recordProgressEvent(tx, progressed, context);
}

/** Returns the time of an order's next poll: when its report says so, otherwise by the schedule. */
function pollAtOf(
  { pollInMs }: Report,
  order: { status: OrderStatus; changedAt: number },
  now: number,
  pollIntervalMs: number,
  jitter: number,
): number | null {
  if (pollInMs === null && !isOpenStatus(order.status)) return null;
  return pollInMs == null ? nextPollAt(order, now, pollIntervalMs, jitter) : now + pollInMs;
}
