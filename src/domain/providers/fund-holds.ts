// Holds for lack of funds: orders that a provider refuses because our balance there is too low wait for a top-up, if
// the operator chose that for the provider. docs/specification/delivery.md#fund-holds.

import { DAY_MS, HOUR_MS } from "../values/spans.ts";
import type { PausedBy } from "./provider-pauses.ts";

/** What happens to an order that a provider refuses for lack of funds, when no other route takes it. */
export const NO_FUNDS_ACTIONS = ["refund", "hold"] as const;
export type NoFundsAction = (typeof NO_FUNDS_ACTIONS)[number];

export const HOLD_DEFAULT_MS = DAY_MS;
export const HOLD_DEFAULT_MICROS = 500_000_000;
export const HOLD_LEAST_MS = HOUR_MS;
export const HOLD_LIMIT_MS = 30 * DAY_MS;

export interface HoldSettings {
  onNoFunds: NoFundsAction;
  /** How long after its creation an order may wait for funds. */
  holdMs: number;
  /** Limit for the charges of the orders that wait for funds together. */
  holdLimitMicros: number;
}

export interface FundHold extends HoldSettings {
  pausedBy: PausedBy | null;
  /** When orders last stopped waiting for funds; null: never. */
  heldUntil: number | null;
}

/**
 * Returns how long after its creation an order of this provider is retried. While the provider lacks funds, `holdMs`
 * applies. After the hold, the orders that waited are retried for another `placeRetryMs`.
 */
export function retryMsAt(
  { pausedBy, holdMs, heldUntil }: FundHold,
  { createdAt }: { createdAt: number },
  placeRetryMs: number,
): number {
  if (pausedBy === "funds") return Math.max(placeRetryMs, holdMs);
  const hasWaited = heldUntil !== null && createdAt <= heldUntil;
  return hasWaited ? heldUntil - createdAt + placeRetryMs : placeRetryMs;
}

/** Returns whether an order may begin to wait for funds. `before`: charges of the orders that wait before it. */
export function mayHold(
  { onNoFunds, holdMs, holdLimitMicros }: HoldSettings,
  { createdAt, chargeMicros }: { createdAt: number; chargeMicros: number },
  before: number,
  now: number,
): boolean {
  if (onNoFunds === "refund" || now >= createdAt + holdMs) return false;
  return before + chargeMicros <= holdLimitMicros;
}

/** Returns the changes that end a hold for lack of funds; none without a hold. The next refusal may begin another. */
export function heldUntilNow(
  { pausedBy }: Pick<FundHold, "pausedBy">,
  now: number,
): { heldUntil?: number; outOfFundsAt?: null } {
  return pausedBy === "funds" ? { heldUntil: now, outOfFundsAt: null } : {};
}
