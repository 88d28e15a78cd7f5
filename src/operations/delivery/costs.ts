// Costs of orders, written in the transaction of the report that contains them. docs/specification/reports.md#costs.

import {
  costByRate,
  countedCharge,
  type CurrencyTerms,
  decideCost,
  expectedCurrency,
  type OrderCost,
} from "../../domain/delivery/costs.ts";
import { type Report, reportedStatus } from "../../domain/delivery/polling.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { findRate, insertCost, lastCosts, listForeignCosts } from "../../db/delivery/costs.ts";
import { getOrder } from "../../db/delivery/deliveries.ts";
import type { Tx } from "../../db/port/port.ts";
import { type Provider, getProvider } from "../../db/providers/providers.ts";
import { providers } from "../../db/tables/providers.ts";
import type { Context } from "../batch/context.ts";

/** Limit for the foreign costs that one update of a provider converts. The next update converts more. */
const FOREIGN_LIMIT = 10_000;

/** A cost to be written, and the order's cost until now. */
export interface CostChange {
  cost: OrderCost;
  before: OrderCost | null;
}

/**
 * Decides the costs from the reports. Returns changes by order id. Its queries run before the command's first write.
 */
export function decideCosts(
  tx: Tx,
  providerId: number,
  reports: readonly { orderId: number; report: Report }[],
): Map<number, CostChange> {
  const changes = new Map<number, CostChange>();
  if (providerId === SANDBOX_PROVIDER) return changes;
  const provider = tx.row(providers.byKey, providerId);
  // The provider was deleted after the poll, so it had no orders.
  if (!provider) return changes;
  const terms = reportedTerms(provider, reports);
  const known = lastCosts(
    tx,
    reports.map(({ orderId }) => orderId),
  );
  tx.each(reports, ({ orderId, report }) => {
    const order = getOrder(tx, orderId);
    const reported = reportedStatus(order, report);
    if (reported === null) return;
    const before = known.get(orderId) ?? null;
    // The service at the provider that took the order, even if another one delivers the service now.
    const { providerService } = order.delivery;
    const byRate = () => {
      const rate = findRate(tx, providerId, providerService, orderId);
      return rate ? costByRate(rate, order.quantity, reported, report.remains) : null;
    };
    const charge = countedCharge(reported, report.cost ?? null, before);
    const cost = decideCost(before, charge, byRate, terms);
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

/** Stores the currency of the provider, and the last currency in a report that was not the provider's. */
export function noteCurrencies(
  tx: Tx,
  providerId: number,
  reports: readonly { report: Report }[],
  changes: ReadonlyMap<number, CostChange>,
): void {
  if (providerId === SANDBOX_PROVIDER) return;
  const provider = getProvider(tx, providerId);
  const { currency } = reportedTerms(provider, reports);
  const foreign = [...changes.values()].find(({ cost }) => cost.basis === "foreign");
  const foreignCurrency = foreign?.cost.currency ?? provider.foreignCurrency;
  if (currency === provider.currency && foreignCurrency === provider.foreignCurrency) return;
  tx.update(providers, provider, { currency, foreignCurrency });
}

/** Returns the terms for costs. The first report with a currency sets it for a provider that has a rate of its own. */
function reportedTerms(provider: Provider, reports: readonly { report: Report }[]): CurrencyTerms {
  const { rateToUsd, currency } = provider;
  if (expectedCurrency(provider) !== null) return { rateToUsd, currency };
  const first = reports.find(({ report }) => report.cost?.currency != null);
  return { rateToUsd, currency: first?.report.cost?.currency ?? null };
}

/** Decides the costs in a currency whose rate is known now. Its queries run before the command's first write. */
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
