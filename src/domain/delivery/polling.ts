// Polling: decides what a provider's report about an order changes. A report with an unknown status, or a PARTIAL with
// invalid remains, changes nothing; the caller logs it. docs/specification/delivery.md#polling-mapping, #polling-doubt.

import { type ReportedStatus, statusOfWord } from "./reported-status.ts";
import {
  decideTransition,
  type OrderTransition,
  type TransitionInput,
} from "../orders/order-transitions.ts";
import type { ReportedCost } from "./costs.ts";
import { isOpenStatus, type OrderStatus } from "../orders/order-statuses.ts";
import { DAY_MS } from "../values/spans.ts";

/** The longest backoff between two polls of an open order, in poll intervals. */
export const POLL_BACKOFF_LIMIT_INTERVALS = 30;
/** How long ended orders are still polled, less and less often, because providers change statuses within days. */
export const LATE_POLL_MS = 3 * DAY_MS;
/** Random jitter as a fraction of the backoff, so that orders placed together are not always polled together. */
const JITTER_FRACTION = 0.2;

/** One order's entry in a reply, with the fields that could be read. */
export interface Report {
  /** The status as the provider wrote it; null when it was missing. */
  word: string | null;
  /** A whole number from 0; null when it was missing or anything else. */
  startCount: number | null;
  remains: number | null;
  /** What the provider charges for the order; absent when the entry has no charge. */
  cost?: ReportedCost;
  /** The entry as received, truncated and with the key masked, for the log. */
  text: string;
  /**
   * Delay of the next poll, if the protocol sets it. Null: an ended order is not polled again. Absent: the schedule
   * decides.
   */
  pollInMs?: number | null;
  /** The provider says that it has no order of that number, or its reply leaves the number out. */
  isUnrecognized?: true;
  /** The provider says in plain words that it has no order of that number. Not set if only its reply omits the number. */
  isDenied?: true;
}

/** Whether the report says that the account has an order of that number, or that it has none. */
export function isClearReport({ word, isDenied }: Report): boolean {
  return word !== null || isDenied === true;
}

export interface PolledOrder extends TransitionInput {
  startCount: number;
  /** The status that the provider reported last; null before the first report. */
  reported: OrderStatus | null;
}

/**
 * What to do with a report. `ignore`: it is invalid. `late`: a new status of an ended order, for the log and
 * `order list --late`. `progress`: counts, possibly unchanged. `transition`: a transition of the state table with its
 * refund.
 */
export type ReportDecision =
  | { kind: "ignore" }
  | { kind: "late"; reported: ReportedStatus; remains: number | null }
  | { kind: "progress"; reported: ReportedStatus; startCount: number; remains: number }
  | {
      kind: "transition";
      reported: ReportedStatus;
      startCount: number;
      transition: OrderTransition;
    };

/** Returns the status in a report; null when the report is invalid. */
export function reportedStatus(
  order: { quantity: number },
  report: Pick<Report, "word" | "remains">,
): ReportedStatus | null {
  const reported = report.word === null ? null : statusOfWord(report.word);
  return reported === "PARTIAL" && !hasValidRemains(order, report) ? null : reported;
}

function hasValidRemains(
  { quantity }: { quantity: number },
  { remains }: Pick<Report, "remains">,
): boolean {
  return remains !== null && remains <= quantity;
}

export function decideReport(order: PolledOrder, report: Report): ReportDecision {
  const reported = reportedStatus(order, report);
  if (reported === null) return { kind: "ignore" };
  const isValid = hasValidRemains(order, report);
  const startCount = report.startCount ?? order.startCount;
  const remains = isValid ? report.remains! : order.remains;
  if (!isOpenStatus(order.status)) {
    // A repeated PARTIAL counts as new: its remains may have changed.
    const isNew = reported !== order.reported || reported === "PARTIAL";
    if (isNew && reported !== order.status) {
      return { kind: "late", reported, remains: isValid ? report.remains : null };
    }
    return { kind: "progress", reported, startCount: order.startCount, remains: order.remains };
  }
  if (reported === "PROCESSING") return { kind: "progress", reported, startCount, remains };
  const transition = decideTransition({ ...order, remains }, reported, remains);
  return { kind: "transition", reported, startCount, transition };
}

/**
 * Returns when an order is polled next. The backoff is half the time since the last change: at least one poll interval,
 * for an open order at most POLL_BACKOFF_LIMIT_INTERVALS of them. Null: an ended order is not polled any more, because
 * its last change is more than LATE_POLL_MS ago. `jitter` is 0 to 1.
 */
export function nextPollAt(
  order: { status: OrderStatus; changedAt: number },
  now: number,
  pollIntervalMs: number,
  jitter: number,
): number | null {
  const unchangedMs = Math.max(0, now - order.changedAt);
  const open = isOpenStatus(order.status);
  if (!open && unchangedMs > LATE_POLL_MS) return null;
  const limitMs = open ? pollIntervalMs * POLL_BACKOFF_LIMIT_INTERVALS : LATE_POLL_MS;
  const backoffMs = Math.max(
    Math.min(unchangedMs / 2, limitMs / (1 + JITTER_FRACTION)),
    pollIntervalMs,
  );
  return now + Math.ceil(backoffMs * (1 + JITTER_FRACTION * jitter));
}
