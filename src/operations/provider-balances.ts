// Our balance at the providers that have a threshold, for the alert: asked for now and then, by one server.

import { isBalanceDue } from "../domain/alerts.ts";
import type { Tx } from "../db/port.ts";
import { listProviders, updateLastSuccess } from "../db/providers.ts";
import { CATALOGUE_LOCK, providers } from "../db/tables.ts";
import type { Context } from "./context.ts";

/** Beyond it a balance is not noted exactly; no threshold is that high. */
const BALANCE_LIMIT_MICROS = 9_000_000_000_000_000;

/** The numbers of the providers to ask now. Noted before they are asked: over a restart, too, none is asked more often. */
export function takeDueBalances(tx: Tx, _command: null, { now }: Context): number[] {
  tx.lock(CATALOGUE_LOCK);
  const due = listProviders(tx).filter((provider) => isBalanceDue(provider, now));
  for (const provider of due) tx.update(providers, provider, { balanceAskedAt: now });
  return due.map(({ providerId }) => providerId);
}

export interface RecordProviderBalance {
  providerId: number;
  balance: number;
  currency: string;
}

export function recordProviderBalance(
  tx: Tx,
  { providerId, balance, currency }: RecordProviderBalance,
  { now }: Context,
): null {
  const micros = Math.round(balance * 1_000_000);
  const balanceMicros = Math.max(-BALANCE_LIMIT_MICROS, Math.min(micros, BALANCE_LIMIT_MICROS));
  const balanceCurrency = currency === "" ? null : currency;
  tx.update(providers, { providerId }, { balanceMicros, balanceCurrency, balanceAt: now });
  updateLastSuccess(tx, providerId, now);
  return null;
}
