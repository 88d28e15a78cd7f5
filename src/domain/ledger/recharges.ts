// Limits of a key that recharges: per recharge, and per UTC day. docs/specification/users.md#keys-limits.

import { formatMicros } from "./money.ts";
import type { Refusals } from "../values/error-table.ts";

export interface RechargeLimits {
  /** Limit for one recharge; null: no limit. */
  rechargeLimitMicros: number | null;
  /** Limit for all recharges of a UTC day; null: no limit. */
  rechargeDailyMicros: number | null;
}

export function limitsText({
  rechargeLimitMicros: each,
  rechargeDailyMicros: daily,
}: RechargeLimits): string {
  const once = each === null ? "any amount at once" : `at most ${formatMicros(each)} USD at once`;
  const inAll =
    daily === null ? "without a daily limit" : `at most ${formatMicros(daily)} USD a day`;
  return `${once}, ${inAll}`;
}

/** A recharge that a limit of its key refused. */
export type RechargeRefusal = {
  [Code in "recharge_limit_exceeded" | "daily_limit_exceeded"]: {
    code: Code;
    details: Refusals[Code];
  };
}["recharge_limit_exceeded" | "daily_limit_exceeded"];

/** Returns the refusal by the limit that a recharge exceeds; null for none. `rechargedMicros`: the key's sum today. */
export function exceededRechargeLimit(
  { rechargeLimitMicros: limit, rechargeDailyMicros: daily }: RechargeLimits,
  rechargedMicros: bigint,
  amountMicros: number,
): RechargeRefusal | null {
  if (limit !== null && amountMicros > limit) {
    return { code: "recharge_limit_exceeded", details: { limitMicros: limit } };
  }
  if (daily === null || rechargedMicros + BigInt(amountMicros) <= BigInt(daily)) return null;
  const left = BigInt(daily) - rechargedMicros;
  const leftMicros = left > 0n ? Number(left) : 0;
  return { code: "daily_limit_exceeded", details: { limitMicros: daily, leftMicros } };
}
