// Limits of resellers: sets them, and checks orders against them in the transaction that places the order.
// docs/specification/users.md#reseller-limits.

import type { Actor } from "../../domain/ledger/ledger.ts";
import {
  currentUse,
  type LimitUse,
  needsOpenCount,
  netSpendMicros,
  type OrderLimits,
  type OwnLimits,
  refuseAboveLimits,
  useWithSpend,
  withOrder,
} from "../../domain/users/reseller-limits.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { type Need, needRow, type Tx } from "../../db/port/port.ts";
import { spendOf } from "../../db/reports/reseller-spend.ts";
import { limitUse, users } from "../../db/tables/users.ts";
import {
  countOpenOrders,
  findLimitUse,
  findOwnLimits,
  putLimitUse,
  putOwnLimits,
} from "../../db/users/reseller-limits.ts";
import type { User } from "../../db/users/users.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireUser } from "./users.ts";
import { startOfMonth, utcDayOf, utcMonthOf } from "../../domain/values/calendar.ts";

export interface SetLimits {
  username: string;
  /** Absent: unchanged. */
  changes: Partial<OwnLimits>;
  actor: Actor;
}

/**
 * Sets a reseller's limits. What it spent in the running day and month counts, and so do its open orders. Refuses:
 * user_not_found, child_cannot_hold_limits.
 */
export function setLimits(tx: Tx, command: SetLimits, context: Context): { account: number } {
  const { changes, actor } = command;
  const user = requireUser(tx, command.username);
  const { account, username } = user;
  if (user.parentAccount !== null) throw refusal("child_cannot_hold_limits");
  tx.lock(account);
  const before = findOwnLimits(tx, account);
  const after = { ...before, ...changes };
  const use = useWithSpend(
    findLimitUse(tx, account),
    netSpendMicros(user),
    spentUntil(tx, user, context.now),
    context.now,
  );
  // Nothing is refused from here on.
  putOwnLimits(tx, account, after);
  putLimitUse(tx, account, use);
  audit(tx, context, {
    actor,
    action: "user.limits",
    subject: username,
    account,
    before: { ...before },
    after: { ...after },
  });
  return { account };
}

function spentUntil(tx: Tx, { account }: User, now: number) {
  const last = utcDayOf(now);
  const first = utcDayOf(startOfMonth(utcMonthOf(now)));
  return {
    dayMicros: spendOf(tx, account, { first: last, last }),
    monthMicros: spendOf(tx, account, { first, last }),
  };
}

/** The limits of the orders of one command, and what is used of them so far. */
export interface LimitCheck {
  limits: OrderLimits;
  use: LimitUse;
}

/** Returns what a check needs. */
export function needsOfLimits(account: number, limits: OrderLimits | undefined): Need[] {
  return limits ? [needRow(limitUse.byKey, account)] : [];
}

/**
 * Begins a check for a command that places up to `orders` orders; undefined without limits. Must come before the
 * command's first write, because it may count open orders.
 */
export function beginCheck(
  tx: Tx,
  account: number,
  limits: OrderLimits | undefined,
  orders: number,
  now: number,
): LimitCheck | undefined {
  if (!limits) return undefined;
  const net = netSpendMicros(tx.row(users.byKey, account)!);
  const use = currentUse(findLimitUse(tx, account), net, now);
  if (!needsOpenCount(limits, use, orders)) return { limits, use };
  const openOrders = countOpenOrders(tx, account, limits.openOrders);
  return { limits, use: { ...use, openOrders } };
}

/** Refuses an order above a limit. Refuses what refuseAboveLimits refuses. */
export function refuseByCheck(
  { limits, use }: LimitCheck,
  reseller: Parameters<typeof netSpendMicros>[0],
  charge: number,
  now: number,
): void {
  refuseAboveLimits(limits, use, netSpendMicros(reseller), charge, now);
}

/** Counts an order that was accepted. */
export function countOrder(tx: Tx, account: number, check: LimitCheck): void {
  check.use = withOrder(check.use, check.limits.openOrders > 0);
  putLimitUse(tx, account, check.use);
}

/**
 * Counts an order of the operator as an open one. No limit refuses it. Its charge needs no counting here, because spend
 * is read from the account.
 */
export function countOperatorOrder(tx: Tx, account: number): void {
  const use = findLimitUse(tx, account);
  if (!use || use.openOrders === null) return;
  putLimitUse(tx, account, { ...use, openOrders: use.openOrders + 1 });
}
