// Records our balance at each provider, for the alert, and when each was asked for it. One server asks from time to
// time.

import { isBalanceDue } from "../../domain/alerts/alerts.ts";
import { microsOf } from "../../domain/delivery/costs.ts";
import { costOfFirstHeld } from "../../db/delivery/held-orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { heldUntilNow } from "../../domain/providers/fund-holds.ts";
import { afterBalance } from "../../domain/providers/provider-pauses.ts";
import {
  hastenSubmissions,
  listProviders,
  type Provider,
  updateLastSuccess,
} from "../../db/providers/providers.ts";
import {
  deleteBalancesBefore,
  hasBalanceAt,
  insertBalance,
} from "../../db/providers/provider-balances.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { providers } from "../../db/tables/providers.ts";
import type { Context } from "../batch/context.ts";

/** How long balances are kept as evidence about unknown orders. */
const BALANCES_KEPT_MS = 30 * DAY_MS;
/** Limit for stored balances. A higher one is stored as this; no threshold is that high. */
const BALANCE_LIMIT_MICROS = 9_000_000_000_000_000;

/**
 * Returns the numbers of the providers to ask now. The time is stored before they are asked, so that a restart does not
 * ask them again. `pauseAsks` counts the times that a provider was asked to end a pause.
 */
export function takeDueBalances(tx: Tx, _command: null, { now }: Context): number[] {
  tx.lock(CATALOGUE_LOCK);
  const due = listProviders(tx).filter((provider) => isBalanceDue(provider, now));
  for (const provider of due) {
    const { pausedBy, pauseAsks } = provider;
    const isAsked = pausedBy === "unknown" || pausedBy === "funds";
    const asks = isAsked ? { pauseAsks: pauseAsks + 1 } : {};
    tx.update(providers, provider, { balanceAskedAt: now, ...asks });
  }
  return due.map(({ providerId }) => providerId);
}

export interface RecordProviderBalance {
  providerId: number;
  balance: number;
  currency: string;
}

/**
 * Records a balance. This ends a pause for unknown outcomes. It ends a pause for lack of funds if the balance covers
 * the order that has waited longest, or, if that order's cost is not known, if it is above 0. The provider's queued
 * orders become due at once. Does nothing if the provider was deleted.
 */
export function recordProviderBalance(
  tx: Tx,
  { providerId, balance, currency }: RecordProviderBalance,
  { now }: Context,
): { isResumed: boolean } {
  tx.lock(CATALOGUE_LOCK);
  const provider = tx.row(providers.byKey, providerId);
  if (!provider) return { isResumed: false };
  const micros = Math.round(balance * 1_000_000);
  const ended = afterBalance(provider, micros >= neededMicros(tx, provider));
  const isResumed = "pausedAt" in ended;
  const balanceMicros = Math.max(-BALANCE_LIMIT_MICROS, Math.min(micros, BALANCE_LIMIT_MICROS));
  const balanceCurrency = currency === "" ? null : currency;
  const isChanged =
    balanceMicros !== provider.balanceMicros || balanceCurrency !== provider.balanceCurrency;
  const isNew = isChanged && !hasBalanceAt(tx, providerId, now);
  // Statements come before every other write.
  deleteBalancesBefore(tx, providerId, now - BALANCES_KEPT_MS);
  if (isResumed) hastenSubmissions(tx, providerId, now);
  if (isNew) insertBalance(tx, providerId, { at: now, balanceMicros, currency: balanceCurrency });
  const noted = { balanceMicros, balanceCurrency, balanceAt: now, ...ended };
  const held = isResumed ? heldUntilNow(provider, now) : {};
  tx.update(providers, provider, { ...noted, ...held });
  updateLastSuccess(tx, providerId, now);
  return { isResumed };
}

/** Returns the balance, in millionths of the provider's currency, that ends a pause for lack of funds. */
function neededMicros(reader: Reader, { providerId, pausedBy }: Provider): number {
  const cost = pausedBy === "funds" ? costOfFirstHeld(reader, providerId) : null;
  return (cost && microsOf(cost, "1")) ?? 1;
}
