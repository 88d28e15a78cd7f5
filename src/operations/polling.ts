// What providers report of placed orders: the batch to ask about, and what the answers move. docs/specification.md#polling.

import { decideReport, nextPollAt, type Report } from "../domain/polling.ts";
import type { OrderStatus } from "../domain/orders.ts";
import { isDatabaseError, savepoint, type Tx } from "../db/connection.ts";
import { insertLateReport, listDuePolls, updatePolled, updateNextPoll } from "../db/polling.ts";
import { updateOrder } from "../db/orders.ts";
import { orderOf, type OrderWithDelivery } from "../db/deliveries.ts";
import { updateLastSuccess } from "../db/providers.ts";
import type { Context } from "./context.ts";
import { applyTransition, SYSTEM_ACTOR } from "./order-transitions.ts";

/** Spreads the jitter of one command over its orders without a random number for each. */
const GOLDEN_RATIO = 0.618_033_988_749_895;

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
 * The orders whose time has come, longest overdue first. Each one's next look is set here, before anyone is asked:
 * whatever becomes of this look, the order comes up again and those behind it come up now.
 */
export function takeDuePolls(tx: Tx, command: TakeDuePolls, context: Context): DuePoll[] {
  const { providerId, limit, pollIntervalMs } = command;
  const due = listDuePolls(tx, providerId, context.now, limit);
  for (const [index, order] of due.entries()) {
    const at = nextPollAt(
      { status: order.status, changedAt: order.changedAt! },
      context.now,
      pollIntervalMs,
      jitterOf(command.jitter, index),
    );
    updateNextPoll(tx, order.orderId, at);
  }
  return due.map(({ orderId, providerOrder }) => ({ orderId, providerOrder: providerOrder! }));
}

export interface RecordReports {
  providerId: number;
  reports: { orderId: number; report: Report }[];
  pollIntervalMs: number;
  jitter: number;
}

/** Something for the log: a report that moved nothing though it should have. */
export interface ReportNotice {
  orderId: number;
  /** nonsense: not believed. late: after the order's end. fault: believed, and could not be written. */
  kind: "nonsense" | "late" | "fault";
  text: string;
}

/** Applies what was reported. An entry that cannot be applied is undone alone; the others go on. */
export function recordReports(tx: Tx, command: RecordReports, context: Context): ReportNotice[] {
  const notices: ReportNotice[] = [];
  for (const [index, { orderId, report }] of command.reports.entries()) {
    const jitter = jitterOf(command.jitter, index);
    try {
      const kind = savepoint(tx, () => {
        return recordReport(tx, orderId, report, command.pollIntervalMs, jitter, context) ?? "";
      });
      if (kind !== "") notices.push({ orderId, kind, text: report.text });
    } catch (error) {
      // A disk or a file in trouble is the whole batch's trouble, not this entry's.
      if (!tx.sqlite.inTransaction || isDatabaseError(error)) throw error;
      notices.push({ orderId, kind: "fault", text: String(error) });
    }
  }
  updateLastSuccess(tx, command.providerId, context.now);
  return notices;
}

function recordReport(
  tx: Tx,
  orderId: number,
  report: Report,
  pollIntervalMs: number,
  jitter: number,
  context: Context,
): "nonsense" | "late" | null {
  const order = orderOf(tx, orderId);
  const { delivery } = order;
  const decision = decideReport({ ...order, reported: delivery.reported }, report);
  switch (decision.kind) {
    case "keep":
      return "nonsense";
    case "late": {
      const { reported } = decision;
      const { status } = order;
      updateOrder(tx, { ...order, delivery: { ...delivery, reported, polledAt: context.now } });
      insertLateReport(tx, { orderId, reported, status, createdAt: context.now });
      return "late";
    }
    case "progress":
      recordProgress(tx, order, decision, pollIntervalMs, jitter, context);
      return null;
    case "move": {
      const { move, reported, startCount } = decision;
      const cause = { actor: SYSTEM_ACTOR, note: `the provider reported ${report.word!.trim()}` };
      const soon = nextPollAt(
        { status: move.status, changedAt: context.now },
        context.now,
        pollIntervalMs,
        jitter,
      );
      const changes = { reported, polledAt: context.now, nextPollAt: soon };
      applyTransition(tx, order, move, cause, context, { startCount, delivery: changes });
      return null;
    }
  }
}

/** An order of which nothing new is said only has its look noted. */
function recordProgress(
  tx: Tx,
  order: OrderWithDelivery,
  said: { startCount: number; remains: number; reported: OrderStatus },
  pollIntervalMs: number,
  jitter: number,
  context: Context,
): void {
  const { startCount, remains, reported } = said;
  const { delivery } = order;
  const isNew =
    startCount !== order.startCount || remains !== order.remains || reported !== delivery.reported;
  if (!isNew) {
    updatePolled(tx, order.orderId, context.now);
    return;
  }
  const { now } = context;
  const open = order.status === "PROCESSING";
  updateOrder(tx, {
    ...order,
    startCount,
    remains,
    delivery: {
      ...delivery,
      reported,
      polledAt: now,
      changedAt: open ? now : delivery.changedAt,
      nextPollAt: open
        ? nextPollAt({ status: order.status, changedAt: now }, now, pollIntervalMs, jitter)
        : delivery.nextPollAt,
    },
  });
}

function jitterOf(jitter: number, index: number): number {
  return (jitter + index * GOLDEN_RATIO) % 1;
}
