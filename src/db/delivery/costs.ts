// Costs of orders at their providers, and the providers' rates. Only operators see costs.

import type { CostBasis, OrderCost, RateUnit } from "../../domain/delivery/costs.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import type { ListedRate } from "../../domain/providers/upstream-rates.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, selectAs } from "../port/query.ts";
import { nullable, number, numbers, text, textOf } from "../port/table-definition.ts";
import { orderCosts } from "../tables/delivery.ts";
import { providerRates } from "../tables/providers.ts";

/** A cost, the time when it became known, and the difference from the order's previous cost. */
export interface CostEntry extends OrderCost {
  changeMicros: number;
  createdAt: number;
}

export interface Rate {
  rate: string;
  unit: RateUnit;
}

/** SQL condition for an order's last entry, the one with the greatest number. */
const IS_LAST = `number = (SELECT max(number) FROM order_costs AS other WHERE other.order_id = cost.order_id)`;

const LAST_COSTS = query({
  parameters: { orderIds: numbers },
  columns: fields(orderCosts),
  text: `SELECT ${selectAs(orderCosts, "cost")} FROM order_costs AS cost
    WHERE order_id IN (:orderIds) AND ${IS_LAST}`,
});

const COSTS = query({
  parameters: { orderId: number },
  columns: fields(orderCosts),
  text: `SELECT ${select(orderCosts)} FROM order_costs WHERE order_id = :orderId ORDER BY number`,
});

const RATE = query({
  parameters: { providerId: number, providerService: text, orderId: number },
  columns: { rate: text, unit: textOf<RateUnit>() },
  text: `SELECT rate AS "rate", unit AS "unit" FROM provider_rates
    WHERE provider_id = :providerId AND provider_service = :providerService AND after_order < :orderId
    ORDER BY after_order DESC LIMIT 1`,
});

const LAST_RATES = query({
  parameters: { providerId: number },
  columns: fields(providerRates, "providerService", "afterOrder", "rate", "unit", "dripfeed"),
  text: `SELECT ${selectAs(providerRates, "known", "providerService", "afterOrder", "rate", "unit", "dripfeed")}
    FROM provider_rates AS known
    WHERE provider_id = :providerId AND after_order = (SELECT max(after_order) FROM provider_rates AS other
      WHERE other.provider_id = known.provider_id AND other.provider_service = known.provider_service)`,
});

const DRIP_FEED = query({
  parameters: { providerId: number, providerService: text },
  columns: fields(providerRates, "dripfeed"),
  text: `SELECT dripfeed AS "dripfeed" FROM provider_rates
    WHERE provider_id = :providerId AND provider_service = :providerService ORDER BY after_order DESC LIMIT 1`,
});

const LAST_ORDER = query({
  columns: { last: nullable(number) },
  text: `SELECT max(order_id) AS "last" FROM orders`,
});

const FOREIGN = query({
  parameters: { providerId: number, limit: number },
  columns: fields(orderCosts),
  text: `SELECT ${selectAs(orderCosts, "cost")} FROM order_costs AS cost JOIN orders ON orders.order_id = cost.order_id
    WHERE basis = 'foreign' AND orders.provider_id = :providerId AND ${IS_LAST} ORDER BY seq LIMIT :limit`,
});

const COUNT_FOREIGN = query({
  columns: { providerId: number, orders: number },
  text: `SELECT orders.provider_id AS "providerId", count(*) AS "orders"
    FROM order_costs AS cost JOIN orders ON orders.order_id = cost.order_id
    WHERE basis = 'foreign' AND ${IS_LAST} GROUP BY orders.provider_id`,
});

/** The present costs of these orders, by order number. Orders without a cost are left out. */
export function lastCosts(reader: Reader, orderIds: readonly number[]): Map<number, OrderCost> {
  const found = reader.all(LAST_COSTS, { orderIds });
  return new Map(found.map((cost) => [cost.orderId, cost]));
}

/** Returns the present cost of an order; null if none is known. */
export function findCost(reader: Reader, orderId: number): OrderCost | null {
  return listCosts(reader, orderId).at(-1) ?? null;
}

/** All cost entries of an order, oldest first. */
export function listCosts(reader: Reader, orderId: number): CostEntry[] {
  return reader.all(COSTS, { orderId });
}

export function insertCost(
  tx: Tx,
  orderId: number,
  cost: OrderCost,
  before: { costMicros: number } | null,
  createdAt: number,
): void {
  const { number: place, basis, amount, currency, rateToUsd, costMicros } = cost;
  const changeMicros = costMicros - (before?.costMicros ?? 0);
  const terms = { basis: basis satisfies CostBasis, amount, currency, rateToUsd };
  tx.insert(orderCosts, { orderId, number: place, ...terms, costMicros, changeMicros, createdAt });
}

/** Finds the provider's rate for a service when the order was placed; undefined if none was known from a sync. */
export function findRate(
  reader: Reader,
  providerId: number,
  providerService: string,
  orderId: number,
): Rate | undefined {
  return reader.one(RATE, { providerId, providerService, orderId });
}

/** Finds the rate for new orders; undefined if none is known from a sync. */
export function findPresentRate(
  reader: Reader,
  { providerId, providerService }: Route,
): Rate | undefined {
  return findRate(reader, providerId, providerService, Number.MAX_SAFE_INTEGER);
}

/** Costs that a provider reported in a currency without a known rate, oldest first. */
export function listForeignCosts(
  reader: Reader,
  providerId: number,
  limit: number,
): (OrderCost & { orderId: number })[] {
  return reader.all(FOREIGN, { providerId, limit });
}

/** Counts orders whose cost is in a currency without a known rate, by provider number. */
export function countForeignCosts(reader: Reader): Map<number, number> {
  return new Map(reader.all(COUNT_FOREIGN).map(({ providerId, orders }) => [providerId, orders]));
}

/** Returns whether the provider's list offers drip-feed for the service; null if not known from a sync. */
export function hasListedDripFeed(
  reader: Reader,
  { providerId, providerService }: Route,
): boolean | null {
  return reader.one(DRIP_FEED, { providerId, providerService })?.dripfeed ?? null;
}

/** Stores the listed rates that differ from the last known ones. They apply to later orders. */
export function recordRates(
  tx: Tx,
  providerId: number,
  rates: ReadonlyMap<string, ListedRate>,
  createdAt: number,
): void {
  const known = new Map(
    tx.all(LAST_RATES, { providerId }).map((row) => [row.providerService, row]),
  );
  const afterOrder = tx.one(LAST_ORDER)!.last ?? 0;
  const changed = [...rates].filter(([service, { rate, unit, dripfeed }]) => {
    const last = known.get(service);
    return last?.rate !== rate || last.unit !== unit || last.dripfeed !== dripfeed;
  });
  tx.each(changed, ([providerService, { rate, unit, dripfeed }]) => {
    const last = known.get(providerService);
    // Replaces the rate if no order was placed since it was stored.
    if (last && last.afterOrder >= afterOrder) {
      const key = { providerId, providerService, afterOrder: last.afterOrder };
      tx.update(providerRates, key, { rate, unit, dripfeed, createdAt });
    } else {
      const row = { providerId, providerService, afterOrder, rate, unit, dripfeed, createdAt };
      tx.insert(providerRates, row);
    }
  });
}
