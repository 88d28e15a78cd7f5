// Orders that wait at a provider for funds: their charges, and what they cost there.

import { addDecimals, costByRate, costOfAll, decimalText } from "../../domain/delivery/costs.ts";
import type { Decimal } from "../../domain/providers/rate-decimals.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { findRate } from "./costs.ts";

// The condition repeats that of the partial index `orders_queued`.
const WAITING = "provider_id = :providerId AND placement = 'queued' AND status = 'PENDING'";

const BEFORE = query({
  parameters: { providerId: number, orderId: number },
  columns: { chargeMicros: nullable(number) },
  text: `SELECT sum(charge_micros) AS "chargeMicros" FROM orders WHERE ${WAITING} AND order_id < :orderId`,
});

const FIRST = query({
  parameters: { providerId: number },
  columns: { providerService: text, orderId: number, quantity: number },
  text: `SELECT provider_service AS "providerService", order_id AS "orderId", quantity AS "quantity" FROM orders
    WHERE ${WAITING} ORDER BY order_id LIMIT 1`,
});

const BY_SERVICE = query({
  parameters: { providerId: number },
  columns: {
    providerService: text,
    orders: number,
    quantity: number,
    chargeMicros: number,
    lastOrder: number,
  },
  text: `SELECT provider_service AS "providerService", count(*) AS "orders", sum(quantity) AS "quantity",
      sum(charge_micros) AS "chargeMicros", max(order_id) AS "lastOrder"
    FROM orders WHERE ${WAITING} GROUP BY provider_service`,
});

/** Sums the charges of the orders that wait at the provider and were placed before this one. */
export function heldMicrosBefore(reader: Reader, providerId: number, orderId: number): number {
  return reader.one(BEFORE, { providerId, orderId })!.chargeMicros ?? 0;
}

/**
 * Returns the cost at the provider, in its currency, of the oldest order that waits. Null: no order waits, or the rate
 * is not known.
 */
export function costOfFirstHeld(reader: Reader, providerId: number): Decimal | null {
  const first = reader.one(FIRST, { providerId });
  if (!first) return null;
  const { providerService, orderId, quantity } = first;
  const rate = findRate(reader, providerId, providerService, orderId);
  return rate ? costByRate(rate, quantity, "PROCESSING", null) : null;
}

/** The orders that wait for funds at a provider. */
export interface HeldOrders {
  orders: number;
  chargeMicros: number;
  /** What they cost there by its rates, in its currency, as a decimal; null: not all rates are known. */
  cost: string | null;
}

export function readHeldOrders(reader: Reader, providerId: number): HeldOrders {
  const groups = reader.all(BY_SERVICE, { providerId });
  let cost: Decimal | null = { digits: 0n, scale: 0 };
  for (const { providerService, lastOrder, ...group } of groups) {
    const rate = findRate(reader, providerId, providerService, lastOrder);
    cost = cost && rate ? addDecimals(cost, costOfAll(rate, group)) : null;
  }
  return {
    orders: groups.reduce((sum, each) => sum + each.orders, 0),
    chargeMicros: groups.reduce((sum, each) => sum + each.chargeMicros, 0),
    cost: cost && decimalText(cost),
  };
}
