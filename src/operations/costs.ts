// Costs of orders, written in the transaction of the report that has them. docs/specification.md#costs.

import {
  costByRate,
  type CurrencyTerms,
  decideCost,
  expectedCurrency,
  type OrderCost,
} from "../domain/costs.ts";
import { type Report, reportedStatus } from "../domain/polling.ts";
import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import { findRate, insertCost, lastCosts, listForeignCosts } from "../db/costs.ts";
import { orderOf } from "../db/deliveries.ts";
import type { Tx } from "../db/port.ts";
import { type Provider, providerOf } from "../db/providers.ts";
import { providers } from "../db/tables.ts";
import type { Context } from "./context.ts";

/** Costs of one update of a provider; the next update takes more. */
const FOREIGN_LIMIT = 10_000;

/** A cost to be written, and the one before it. */
export interface CostChange {
  cost: OrderCost;
  before: OrderCost | null;
}

/** By order. Reads all that it needs: before the first write. */
export function decideCosts(
  tx: Tx,
  providerId: number,
  reports: readonly { orderId: number; report: Report }[],
): Map<number, CostChange> {
  const changes = new Map<number, CostChange>();
  if (providerId === SANDBOX_PROVIDER) return changes;
  const provider = tx.row(providers.byKey, providerId);
  // Deleted since it was polled: then it had no orders.
  if (!provider) return changes;
  const terms = reportedTerms(provider, reports);
  const known = lastCosts(
    tx,
    reports.map(({ orderId }) => orderId),
  );
  tx.each(reports, ({ orderId, report }) => {
    const order = orderOf(tx, orderId);
    const reported = reportedStatus(order, report);
    if (reported === null) return;
    const before = known.get(orderId) ?? null;
    // Of the provider that took the order, whatever its service is delivered by now.
    const { providerService } = order.delivery;
    const byRate = () => {
      const rate = findRate(tx, providerId, providerService, orderId);
      return rate ? costByRate(rate, order.quantity, reported, report.remains) : null;
    };
    const cost = decideCost(before, report.cost ?? null, byRate, terms);
    if (cost) changes.set(orderId, { cost, before });
  });
  return changes;
}

export function writeCost(
  tx: Tx,
  orderId: number,
  { cost, before }: CostChange,
  context: Context,
): void {
  insertCost(tx, orderId, cost, before, context.now);
}

/** What the reports say of the provider itself: its currency, or one that is not its own. */
export function noteCurrencies(
  tx: Tx,
  providerId: number,
  reports: readonly { report: Report }[],
  changes: ReadonlyMap<number, CostChange>,
): void {
  if (providerId === SANDBOX_PROVIDER) return;
  const provider = providerOf(tx, providerId);
  const { currency } = reportedTerms(provider, reports);
  const foreign = [...changes.values()].find(({ cost }) => cost.basis === "foreign");
  const foreignCurrency = foreign?.cost.currency ?? provider.foreignCurrency;
  if (currency === provider.currency && foreignCurrency === provider.foreignCurrency) return;
  tx.update(providers, provider, { currency, foreignCurrency });
}

/** A provider with a rate of its own has the currency that it reports first. */
function reportedTerms(provider: Provider, reports: readonly { report: Report }[]): CurrencyTerms {
  const { rateToUsd, currency } = provider;
  if (expectedCurrency(provider) !== null) return { rateToUsd, currency };
  const first = reports.find(({ report }) => report.cost?.currency != null);
  return { rateToUsd, currency: first?.report.cost?.currency ?? null };
}

/** Costs in the currency whose rate is known now. Reads before the command's first write. */
export function decideForeignCosts(
  tx: Tx,
  providerId: number,
  terms: CurrencyTerms,
): { orderId: number; change: CostChange }[] {
  return listForeignCosts(tx, providerId, FOREIGN_LIMIT).flatMap((before) => {
    const { orderId, amount, currency } = before;
    const cost = decideCost(before, { charge: amount, currency }, () => null, terms);
    return cost && cost.basis === "charge" ? [{ orderId, change: { cost, before } }] : [];
  });
}
