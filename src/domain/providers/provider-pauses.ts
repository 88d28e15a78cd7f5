// Pauses of providers: decides when submissions wait, and when they continue.
// docs/specification/delivery.md#provider-pauses.

import { DAY_MS, MINUTE_MS } from "../values/spans.ts";

/** Why submissions wait: too many unknown outcomes in a row, the operator's decision, or lack of funds there. */
export type PausedBy = "unknown" | "operator" | "funds";

export interface ProviderPause {
  /** Number of unknown outcomes since the provider last accepted or refused an order. */
  unknownInRow: number;
  pausedAt: number | null;
  pausedBy: PausedBy | null;
  /** When a pause by the operator ends by itself; null: when the operator resumes the provider. */
  pausedUntil: number | null;
  /** Number of balance calls to end pauses since the provider last accepted or refused an order. */
  pauseAsks: number;
}

export const NO_PAUSE: ProviderPause = {
  unknownInRow: 0,
  pausedAt: null,
  pausedBy: null,
  pausedUntil: null,
  pauseAsks: 0,
};

/** The largest value of `--provider-pause-after`. */
export const PAUSE_AFTER_LIMIT = 1000;
/** Limits for the time after which a pause by the operator ends by itself. */
export const PAUSE_FOR_LEAST_MS = MINUTE_MS;
export const PAUSE_FOR_LIMIT_MS = 30 * DAY_MS;
/** How long a queued order of a paused provider waits before another route is looked for. */
export const PAUSED_RETRY_MS = MINUTE_MS;
const PAUSE_ASK_FIRST_MS = 30_000;
const PAUSE_ASK_LIMIT_MS = 15 * MINUTE_MS;

/** Returns the changes after an unknown outcome. `pauseAfter`: number in a row that pauses the provider; 0: never. */
export function afterUnknown(
  { unknownInRow, pausedAt }: ProviderPause,
  pauseAfter: number,
  now: number,
): Partial<ProviderPause> {
  if (pauseAfter === 0) return {};
  const counted = { unknownInRow: unknownInRow + 1 };
  const isPaused = pausedAt === null && counted.unknownInRow >= pauseAfter;
  return isPaused ? { ...counted, pausedAt: now, pausedBy: "unknown" } : counted;
}

/** The changes after the provider accepted or refused an order. A pause continues until a balance call succeeds. */
export const ANSWERED = { unknownInRow: 0, pauseAsks: 0 };

/**
 * Returns the changes after an order was refused for lack of funds and waits for them. `pauseAsks` stays, so that each
 * top-up that was too small makes the next balance call come later.
 */
export function afterNoFunds({ pausedAt }: ProviderPause, now: number): Partial<ProviderPause> {
  const answered = { unknownInRow: 0 };
  return pausedAt === null ? { ...answered, pausedAt: now, pausedBy: "funds" } : answered;
}

/**
 * Returns the changes after a successful balance call. The count of unknown outcomes stays: one more pauses the
 * provider again, unless an order is accepted or refused first. A call that began before the pause changes nothing.
 * `isEnough`: whether the balance covers the order that has waited longest.
 */
export function afterBalance(
  { pausedBy, pauseAsks }: ProviderPause,
  isEnough: boolean,
): Partial<ProviderPause> {
  const isOver = pausedBy === "unknown" || (pausedBy === "funds" && isEnough);
  return isOver && pauseAsks > 0 ? { pausedAt: null, pausedBy: null } : {};
}

/**
 * Returns whether orders are sent one at a time: a pause has ended by a balance call, and no order has been accepted or
 * refused since.
 */
export function isOnProbation(
  { unknownInRow, pauseAsks }: Pick<ProviderPause, "unknownInRow" | "pauseAsks">,
  pauseAfter: number,
): boolean {
  return pauseAsks > 0 || (pauseAfter > 0 && unknownInRow >= pauseAfter);
}

/** Returns whether the time for which the operator paused the provider is over. */
export function isPauseOver(
  { pausedUntil }: Pick<ProviderPause, "pausedUntil">,
  now: number,
): boolean {
  return pausedUntil !== null && now >= pausedUntil;
}

/** Returns whether a balance call is due to end the pause: after 30 s, then each time twice as long, up to 15 min. */
export function isPauseAskDue(
  { pausedAt, pausedBy, pauseAsks }: ProviderPause,
  balanceAskedAt: number | null,
  now: number,
): boolean {
  if (pausedAt === null || pausedBy === "operator") return false;
  const since = Math.max(pausedAt, balanceAskedAt ?? 0);
  // A clock that was set back must not delay the call for long.
  return Math.abs(now - since) >= Math.min(PAUSE_ASK_FIRST_MS * 2 ** pauseAsks, PAUSE_ASK_LIMIT_MS);
}
