// The limits of resellers, and what they have used of them. docs/specification/users.md#reseller-limits.

import { OPEN_STATUSES } from "../../domain/orders/order-statuses.ts";
import {
  currentUse,
  type LimitUse,
  netSpendMicros,
  NO_OWN_LIMITS,
  type OwnLimits,
  spentIn,
} from "../../domain/users/reseller-limits.ts";
import type { Reader, Tx } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { limitUse, resellerLimits } from "../tables/users.ts";

// Each status by itself, so that the index reads no more than `most` rows of it.
const OPEN_ORDERS = query({
  parameters: { resellerAccount: number, most: number },
  columns: { open: number },
  restrictedBy: ["resellerAccount"],
  text: `SELECT ${OPEN_STATUSES.map(
    (status) => `(SELECT count(*) FROM (SELECT 1 AS one FROM orders
      WHERE reseller_account = :resellerAccount AND status = '${status}' LIMIT :most) AS counted)`,
  ).join(" + ")} AS "open"`,
});

/** Returns the limits of a reseller that differ from the defaults. */
export function findOwnLimits(reader: Reader, account: number): OwnLimits {
  const row = reader.row(resellerLimits.byKey, account);
  if (!row) return NO_OWN_LIMITS;
  const { account: _, ...limits } = row;
  return limits;
}

/** Stores the limits of a reseller. Limits that are all defaults are deleted. */
export function putOwnLimits(tx: Tx, account: number, limits: OwnLimits): void {
  const isDefault = Object.values(limits).every((limit) => limit === null);
  const row = tx.row(resellerLimits.byKey, account);
  if (row && isDefault) tx.delete(resellerLimits, row);
  else if (row) tx.update(resellerLimits, row, limits);
  else if (!isDefault) tx.insert(resellerLimits, { account, ...limits });
}

export function findLimitUse(reader: Reader, account: number): LimitUse | undefined {
  return reader.row(limitUse.byKey, account);
}

export function putLimitUse(tx: Tx, account: number, use: LimitUse): void {
  const row = tx.row(limitUse.byKey, account);
  if (row) tx.update(limitUse, row, use);
  else tx.insert(limitUse, { account, ...use });
}

/** A reseller's own limits, and what it has used of its limits. */
export interface LimitFacts {
  own: OwnLimits;
  /** Orders of keys in the running minute, and spend of the day and month, as far as they were counted. */
  minuteOrders: number;
  dayMicros: bigint;
  monthMicros: bigint;
  /** Counted up to `most` of each status. */
  openOrders: number;
}

export function readLimitFacts(
  reader: Reader,
  { account, ...user }: LimitedUser,
  most: number,
  now: number,
): LimitFacts {
  const net = netSpendMicros(user);
  const use = currentUse(findLimitUse(reader, account), net, now);
  return {
    own: findOwnLimits(reader, account),
    minuteOrders: use.minuteOrders,
    ...spentIn(use, net),
    openOrders: countOpenOrders(reader, account, most),
  };
}

type LimitedUser = { account: number; depositedMicros: bigint; balanceMicros: bigint };

/** Counts the open orders of an account, each status up to `most`. */
export function countOpenOrders(reader: Reader, account: number, most: number): number {
  return reader.one(OPEN_ORDERS, { resellerAccount: account, most })!.open;
}
