// Pauses: when submissions to a provider wait, and when they continue. docs/specification/delivery.md#provider-pauses.

import { MINUTE_MS } from "../values/spans.ts";

/** Why submissions wait: too many unknown outcomes in a row, or the operator's decision. */
export type PausedBy = "unknown" | "operator";

export interface ProviderPause {
  /** Unknown outcomes since the provider's last answer that said whether it took an order. */
  unknownInRow: number;
  pausedAt: number | null;
  pausedBy: PausedBy | null;
  /** Balance calls made to end pauses, since that answer. */
  pauseAsks: number;
}

export const NO_PAUSE: ProviderPause = {
  unknownInRow: 0,
  pausedAt: null,
  pausedBy: null,
  pauseAsks: 0,
};

/** Largest value of `--provider-pause-after`. */
export const PAUSE_AFTER_LIMIT = 1000;
/** How long a queued order of a paused provider waits before another route is looked for again. */
export const PAUSED_RETRY_MS = MINUTE_MS;
const PAUSE_ASK_FIRST_MS = 30_000;
const PAUSE_ASK_LIMIT_MS = 15 * MINUTE_MS;

/** The changes after one more unknown outcome. `pauseAfter`: unknown outcomes in a row that pause; 0: never. */
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

/** The changes after an answer that said whether an order was taken. A pause goes on until a balance call succeeds. */
export const ANSWERED = { unknownInRow: 0, pauseAsks: 0 };

/**
 * The changes after a successful balance call. The count stays: until an order is answered, one more unknown outcome
 * pauses again. A call that began before the pause changes nothing.
 */
export function afterBalance({ pausedBy, pauseAsks }: ProviderPause): Partial<ProviderPause> {
  return pausedBy === "unknown" && pauseAsks > 0 ? { pausedAt: null, pausedBy: null } : {};
}

/** Whether orders are sent one at a time: a pause has ended, and no order has been answered since. */
export function isOnProbation({ unknownInRow }: ProviderPause, pauseAfter: number): boolean {
  return pauseAfter > 0 && unknownInRow >= pauseAfter;
}

/** Whether a balance call is due to end the pause: after 30 s, then after twice as long each time, up to 15 min. */
export function isPauseAskDue(
  { pausedAt, pausedBy, pauseAsks }: ProviderPause,
  balanceAskedAt: number | null,
  now: number,
): boolean {
  if (pausedAt === null || pausedBy !== "unknown") return false;
  const since = Math.max(pausedAt, balanceAskedAt ?? 0);
  // A clock that was set back must not delay the call for long.
  return Math.abs(now - since) >= Math.min(PAUSE_ASK_FIRST_MS * 2 ** pauseAsks, PAUSE_ASK_LIMIT_MS);
}
