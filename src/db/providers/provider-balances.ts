// Our balances at providers as they changed. A row is written only when the balance differs from the one before.

import type { ReportedBalance } from "../../domain/delivery/balance-evidence.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { providerBalances } from "../tables/providers.ts";

const LAST_BEFORE = query({
  parameters: { providerId: number, at: number },
  columns: fields(providerBalances),
  text: `SELECT ${select(providerBalances)} FROM provider_balances
    WHERE provider_id = :providerId AND at <= :at ORDER BY at DESC LIMIT 1`,
});

const FIRST_AFTER = query({
  parameters: { providerId: number, at: number },
  columns: fields(providerBalances),
  text: `SELECT ${select(providerBalances)} FROM provider_balances
    WHERE provider_id = :providerId AND at >= :at ORDER BY at LIMIT 1`,
});

const DELETE_BEFORE = statement({
  parameters: { providerId: number, at: number },
  writes: [providerBalances],
  text: "DELETE FROM provider_balances WHERE provider_id = :providerId AND at < :at",
});

/** The last balance known at that time. */
export function findBalanceBefore(
  reader: Reader,
  providerId: number,
  at: number,
): ReportedBalance | null {
  return reader.one(LAST_BEFORE, { providerId, at }) ?? null;
}

/** The first balance that was reported from that time on. */
export function findBalanceAfter(
  reader: Reader,
  providerId: number,
  at: number,
): ReportedBalance | null {
  return reader.one(FIRST_AFTER, { providerId, at }) ?? null;
}

/** Deletes the balances from before a time. */
export function deleteBalancesBefore(tx: Tx, providerId: number, at: number): void {
  tx.run(DELETE_BEFORE, { providerId, at });
}

/** Whether a balance of that millisecond is stored. */
export function hasBalanceAt(reader: Reader, providerId: number, at: number): boolean {
  return reader.row(providerBalances.byKey, providerId, at) !== undefined;
}

export function insertBalance(tx: Tx, providerId: number, balance: ReportedBalance): void {
  tx.insert(providerBalances, { providerId, ...balance });
}
