// Limits of a reseller for the orders of its keys: orders a minute, spend a day and a month, open orders.
// docs/specification/users.md#reseller-limits. Its rate of requests is limited by http/server/rate-limits.ts.

import { startOfMonth, utcDayOf, utcMonthOf } from "../values/calendar.ts";
import type { LimitEnd } from "../orders/refusals.ts";
import { Refusal } from "../values/error-table.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../values/spans.ts";

/** Limits for the orders of a reseller's keys. 0: no limit. */
export interface OrderLimits {
  ordersPerMinute: number;
  spendPerDayMicros: number;
  spendPerMonthMicros: number;
  openOrders: number;
}

/** A reseller's own limits. Null: the server's default applies. */
export type OwnOrderLimits = { [Name in keyof OrderLimits]: OrderLimits[Name] | null };

export interface OwnLimits extends OwnOrderLimits {
  /** A rate such as `10/s` for all keys together; `0`: no limit. Null: the server's default applies to each key. */
  rateLimit: string | null;
}

export const NO_ORDER_LIMITS: OrderLimits = {
  ordersPerMinute: 0,
  spendPerDayMicros: 0,
  spendPerMonthMicros: 0,
  openOrders: 0,
};

export const NO_OWN_LIMITS: OwnLimits = {
  rateLimit: null,
  ordersPerMinute: null,
  spendPerDayMicros: null,
  spendPerMonthMicros: null,
  openOrders: null,
};

/** Returns the limits that apply; null if there is none. */
export function appliedLimits(own: OwnOrderLimits, defaults: OrderLimits): OrderLimits | null {
  const applied = {
    ordersPerMinute: own.ordersPerMinute ?? defaults.ordersPerMinute,
    spendPerDayMicros: own.spendPerDayMicros ?? defaults.spendPerDayMicros,
    spendPerMonthMicros: own.spendPerMonthMicros ?? defaults.spendPerMonthMicros,
    openOrders: own.openOrders ?? defaults.openOrders,
  };
  const { ordersPerMinute, spendPerDayMicros, spendPerMonthMicros, openOrders } = applied;
  const isNone =
    ordersPerMinute === 0 &&
    spendPerDayMicros === 0 &&
    spendPerMonthMicros === 0 &&
    openOrders === 0;
  return isNone ? null : applied;
}

/**
 * What a reseller has used of its limits. Its spend is read from its account: all charges less all refunds so far, less
 * the same sum at the start of the period.
 */
export interface LimitUse {
  /** The UTC minute, day and month, each as its number since 1970. */
  minute: number;
  day: number;
  month: number;
  /** Orders of the minute. */
  minuteOrders: number;
  /** Charges less refunds before the day and before the month. */
  dayStartMicros: bigint;
  monthStartMicros: bigint;
  /** The open orders, and those that ended since they were last counted. Null: not counted. */
  openOrders: number | null;
}

/** Returns the charges less refunds of an account so far: nothing else moves money between it and the sales. */
export function netSpendMicros(user: { depositedMicros: bigint; balanceMicros: bigint }): bigint {
  return user.depositedMicros - user.balanceMicros;
}

function utcMinuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS);
}

/**
 * Returns the use of the running periods. A new period starts at the present sum of spend. A refund for an earlier
 * period lowers that start, so refunds never raise what may be spent. Open orders are counted again each minute,
 * because a server whose settings have no limits does not count the orders that it places.
 */
export function currentUse(stored: LimitUse | undefined, netMicros: bigint, now: number): LimitUse {
  const [minute, day, month] = [utcMinuteOf(now), utcDayOf(now), utcMonthOf(now)];
  const isSameMinute = stored?.minute === minute;
  const startOf = (isRunning: boolean, start: bigint) =>
    isRunning && start < netMicros ? start : netMicros;
  return {
    minute,
    day,
    month,
    minuteOrders: isSameMinute ? stored.minuteOrders : 0,
    dayStartMicros: startOf(stored?.day === day, stored?.dayStartMicros ?? 0n),
    monthStartMicros: startOf(stored?.month === month, stored?.monthStartMicros ?? 0n),
    openOrders: isSameMinute ? stored.openOrders : null,
  };
}

/** Returns the use of the running periods, given what was already spent in them. Open orders are counted again. */
export function useWithSpend(
  stored: LimitUse | undefined,
  netMicros: bigint,
  spent: { dayMicros: bigint; monthMicros: bigint },
  now: number,
): LimitUse {
  const startOf = (micros: bigint) => netMicros - (micros > 0n ? micros : 0n);
  return {
    ...currentUse(stored, netMicros, now),
    openOrders: null,
    dayStartMicros: startOf(spent.dayMicros),
    monthStartMicros: startOf(spent.monthMicros),
  };
}

/** Returns what was spent in the running day and month. */
export function spentIn(use: LimitUse, netMicros: bigint) {
  return {
    dayMicros: netMicros - use.dayStartMicros,
    monthMicros: netMicros - use.monthStartMicros,
  };
}

/** Returns whether the open orders must be counted, before `orders` more are placed. */
export function needsOpenCount({ openOrders: limit }: OrderLimits, use: LimitUse, orders: number) {
  return limit > 0 && (use.openOrders === null || use.openOrders + orders > limit);
}

/**
 * Refuses an order above a limit; one exactly at its limits is accepted. Refuses, in this order:
 * orders_per_minute_exceeded, spend_limit_exceeded (day, month), open_orders_exceeded.
 */
export function refuseAboveLimits(
  limits: OrderLimits,
  use: LimitUse,
  netMicros: bigint,
  chargeMicros: number,
  now: number,
): void {
  const { ordersPerMinute, spendPerDayMicros, spendPerMonthMicros, openOrders } = limits;
  if (ordersPerMinute > 0 && use.minuteOrders >= ordersPerMinute) {
    const end = endOf((use.minute + 1) * MINUTE_MS, now);
    throw new Refusal("orders_per_minute_exceeded", { allowed: ordersPerMinute, ...end });
  }
  const spent = spentIn(use, netMicros);
  const refuseSpend = (
    period: "day" | "month",
    limitMicros: number,
    spentMicros: bigint,
    endsAt: number,
  ) => {
    if (limitMicros === 0 || spentMicros + BigInt(chargeMicros) <= BigInt(limitMicros)) return;
    const left = BigInt(limitMicros) - spentMicros;
    const leftMicros = left > 0n ? Number(left) : 0;
    const details = { period, limitMicros, leftMicros, ...endOf(endsAt, now) };
    throw new Refusal("spend_limit_exceeded", details);
  };
  refuseSpend("day", spendPerDayMicros, spent.dayMicros, (use.day + 1) * DAY_MS);
  refuseSpend("month", spendPerMonthMicros, spent.monthMicros, startOfMonth(use.month + 1));
  if (openOrders > 0 && use.openOrders! >= openOrders) {
    throw new Refusal("open_orders_exceeded", { allowed: openOrders });
  }
}

function endOf(endsAt: number, now: number): LimitEnd {
  return { endsAt, retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / SECOND_MS)) };
}

/** Returns the use after one more order was accepted. */
export function withOrder(use: LimitUse, isOpenCounted: boolean): LimitUse {
  return {
    ...use,
    minuteOrders: use.minuteOrders + 1,
    openOrders: isOpenCounted ? use.openOrders! + 1 : null,
  };
}
