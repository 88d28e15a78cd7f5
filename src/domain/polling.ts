// What a provider reports of an order, and what may be made of it. docs/specification.md#polling-mapping and #polling-doubt.
// A word that is not known, or a PARTIAL that does not add up, moves nothing; the caller logs it.

import {
  decideTransition,
  type OrderTransition,
  type TransitionInput,
} from "./order-transitions.ts";
import type { OrderStatus } from "./orders.ts";

/** An order is looked at again after at most this many poll intervals. */
export const POLL_BACKOFF_LIMIT_INTERVALS = 30;
/** How long after its end an order is still looked at, ever more rarely: late changes come within days. */
export const LATE_POLL_MS = 3 * 24 * 60 * 60 * 1000;
/** A pause is made longer by up to this part of it, so that orders placed together part. */
const JITTER_PART = 0.2;

/** One order's entry in a reply, as far as it could be read. */
export interface Report {
  /** The provider's word for the status; null when there was none. */
  word: string | null;
  /** Whole and not negative; null when it was anything else. */
  startCount: number | null;
  remains: number | null;
  /** The entry as it came, cut and with the key masked, for the log. */
  text: string;
}

/** A status that a provider can report. */
export type ReportedStatus = "PROCESSING" | "COMPLETED" | "PARTIAL" | "CANCELLED" | "FAILED";

const WORDS: Record<string, ReportedStatus> = {
  pending: "PROCESSING",
  processing: "PROCESSING",
  inprogress: "PROCESSING",
  completed: "COMPLETED",
  partial: "PARTIAL",
  canceled: "CANCELLED",
  cancelled: "CANCELLED",
  refunded: "CANCELLED",
  fail: "FAILED",
  failed: "FAILED",
  error: "FAILED",
};

/** Without regard to case, blanks, `-` and `_`; null for any other word. */
export function statusOfWord(word: string): ReportedStatus | null {
  const plain = word.toLowerCase().replace(/[\s_-]+/g, "");
  return Object.hasOwn(WORDS, plain) ? WORDS[plain]! : null;
}

export interface PolledOrder extends TransitionInput {
  startCount: number;
  /** What the provider reported last; null: nothing yet. */
  reported: OrderStatus | null;
}

/**
 * keep: nothing that can be believed was said. late: a change after the end, for the log and the list.
 * progress: the counts, and perhaps nothing new. move: the state table's next step with its refund.
 */
export type ReportDecision =
  | { kind: "keep" }
  | { kind: "late"; reported: ReportedStatus }
  | { kind: "progress"; reported: ReportedStatus; startCount: number; remains: number }
  | { kind: "move"; reported: ReportedStatus; startCount: number; move: OrderTransition };

export function decideReport(order: PolledOrder, report: Report): ReportDecision {
  const reported = report.word === null ? null : statusOfWord(report.word);
  if (reported === null) return { kind: "keep" };
  const isValid = report.remains !== null && report.remains <= order.quantity;
  if (reported === "PARTIAL" && !isValid) return { kind: "keep" };
  const startCount = report.startCount ?? order.startCount;
  const remains = isValid ? report.remains! : order.remains;
  if (order.status !== "PROCESSING") {
    const isNew = reported !== order.reported && reported !== order.status;
    if (isNew) return { kind: "late", reported };
    return { kind: "progress", reported, startCount: order.startCount, remains: order.remains };
  }
  if (reported === "PROCESSING") return { kind: "progress", reported, startCount, remains };
  const move = decideTransition({ ...order, remains }, reported, remains);
  return { kind: "move", reported, startCount, move };
}

/**
 * When an order is looked at next: the longer nothing has changed, the longer the pause, from one poll interval
 * to POLL_BACKOFF_LIMIT_INTERVALS of them. After its end the pauses go on growing until LATE_POLL_MS; then null.
 * `jitter` is 0 to 1.
 */
export function nextPollAt(
  order: { status: OrderStatus; changedAt: number },
  now: number,
  pollIntervalMs: number,
  jitter: number,
): number | null {
  const unchangedMs = Math.max(0, now - order.changedAt);
  const open = order.status === "PROCESSING";
  if (!open && unchangedMs > LATE_POLL_MS) return null;
  const limitMs = open ? pollIntervalMs * POLL_BACKOFF_LIMIT_INTERVALS : LATE_POLL_MS;
  const backoffMs = Math.max(
    Math.min(unchangedMs / 2, limitMs / (1 + JITTER_PART)),
    pollIntervalMs,
  );
  return now + Math.ceil(backoffMs * (1 + JITTER_PART * jitter));
}
