// The rule for a reseller that spends far more than usual, as after a leaked key (conditions.ts).

import { formatMicros, MICROS_PER_DOLLAR } from "../ledger/money.ts";
import { DAY_MS, HOUR_MS } from "../values/spans.ts";
import type { Rules } from "./conditions.ts";
import { utcDayOf } from "../values/calendar.ts";

/** An hour's spend is reported from this many times the usual spend. */
export const SPEND_FACTOR = 10;
/** An hour's spend below this is never reported, because small and new resellers vary much. */
export const SPEND_LEAST_MICROS = 100 * MICROS_PER_DOLLAR;
/** Number of days before today whose spend counts as usual. */
export const USUAL_DAYS = 28;

/** A reseller's spend of the running hour: charges less refunds. */
export interface SpendFacts {
  /** Id of the user. */
  id: string;
  username: string;
  createdAt: number;
  hourMicros: bigint;
  /** Spend of today, this hour included, and of the USUAL_DAYS before. */
  totalMicros: bigint;
}

/**
 * Returns the usual spend of an hour: the mean since the user was created, over today and at most USUAL_DAYS before,
 * without the running hour.
 */
export function usualMicros({ createdAt, hourMicros, totalMicros }: SpendFacts, now: number) {
  const hour = Math.floor(now / HOUR_MS);
  const first = (utcDayOf(now) - USUAL_DAYS) * (DAY_MS / HOUR_MS);
  const hours = Math.max(1, hour - Math.max(first, Math.floor(createdAt / HOUR_MS)));
  const before = totalMicros - hourMicros;
  return before > 0n ? before / BigInt(hours) : 0n;
}

/** Returns whether the spend of the running hour is far above the usual. */
export function isUnusual(facts: SpendFacts, now: number): boolean {
  return (
    facts.hourMicros >= BigInt(SPEND_LEAST_MICROS) &&
    facts.hourMicros >= BigInt(SPEND_FACTOR) * usualMicros(facts, now)
  );
}

export const SPEND_RULES: Rules<SpendFacts> = {
  spend_unusual: {
    severity: () => "problem",
    holds: isUnusual,
    // Without the reseller's name, because an erasure does not reach alerts that were sent.
    text: (facts, now) =>
      `Reseller ${facts.id} spent ${formatMicros(facts.hourMicros)} USD in this hour; usual is ${formatMicros(usualMicros(facts, now))}`,
    page: ({ username }) => `/users/${username}`,
    action: "See the user, limit it or deactivate its keys",
    advice: () =>
      "`reseller admin user list` has its name; limit it with `reseller admin user limits`, or deactivate its keys",
    alert: ({ id }) => ({ subject: id }),
    amount: ({ hourMicros }) => Number(hourMicros / BigInt(MICROS_PER_DOLLAR)),
  },
};
