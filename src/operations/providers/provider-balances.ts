// Records our balance at each provider, for the alert, and when each was asked for it. One server asks from time to
// time.

import { isBalanceDue } from "../../domain/alerts/alerts.ts";
import type { Tx } from "../../db/port/port.ts";
import { afterBalance } from "../../domain/providers/provider-pauses.ts";
import {
  hastenSubmissions,
  listProviders,
  updateLastSuccess,
} from "../../db/providers/providers.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { providers } from "../../db/tables/providers.ts";
import type { Context } from "../batch/context.ts";

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
    const asks = pausedBy === "unknown" ? { pauseAsks: pauseAsks + 1 } : {};
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
 * Records a balance. This ends a pause for unknown outcomes, and the provider's queued orders become due at once. Does
 * nothing if the provider was deleted.
 */
export function recordProviderBalance(
  tx: Tx,
  { providerId, balance, currency }: RecordProviderBalance,
  { now }: Context,
): { isResumed: boolean } {
  tx.lock(CATALOGUE_LOCK);
  const provider = tx.row(providers.byKey, providerId);
  if (!provider) return { isResumed: false };
  const ended = afterBalance(provider);
  const isResumed = "pausedAt" in ended;
  if (isResumed) hastenSubmissions(tx, providerId, now);
  const micros = Math.round(balance * 1_000_000);
  const balanceMicros = Math.max(-BALANCE_LIMIT_MICROS, Math.min(micros, BALANCE_LIMIT_MICROS));
  const balanceCurrency = currency === "" ? null : currency;
  const noted = { balanceMicros, balanceCurrency, balanceAt: now, ...ended };
  tx.update(providers, provider, noted);
  updateLastSuccess(tx, providerId, now);
  return { isResumed };
}
