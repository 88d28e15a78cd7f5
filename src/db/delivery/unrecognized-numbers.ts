// Unrecognized numbers: open orders whose number the provider does not know. A row is kept until the provider reports
// the order.

import { LIVE_ORDER_CONDITION } from "../orders/orders.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { unrecognizedNumbers } from "../tables/delivery.ts";

export interface UnrecognizedNumber {
  orderId: number;
  providerOrder: string;
  /** The provider's answer, with its key masked. */
  cause: string;
  createdAt: number;
}

/** SQL condition for orders still in delivery. */
const OPEN_ORDER_CONDITION = `orders.status = 'PROCESSING' AND ${LIVE_ORDER_CONDITION}`;
// Uses CROSS JOIN, because otherwise SQLite reads all orders first (perhaps millions) to avoid sorting a few rows.
const OPEN = `unrecognized_numbers CROSS JOIN orders
  WHERE orders.order_id = unrecognized_numbers.order_id AND ${OPEN_ORDER_CONDITION}`;

/** SQL for the count of unrecognized numbers. */
export const UNRECOGNIZED_NUMBERS = `SELECT count(*) FROM ${OPEN}`;

const OF_PROVIDER = query({
  parameters: { providerId: number, limit: number },
  columns: { orderId: number, providerOrder: text, cause: text },
  text: `SELECT unrecognized_numbers.order_id AS "orderId",
      unrecognized_numbers.provider_order AS "providerOrder", unrecognized_numbers.cause AS "cause"
    FROM ${OPEN} AND orders.provider_id = :providerId
    ORDER BY unrecognized_numbers.order_id LIMIT :limit`,
});

const ALL = query({
  parameters: { limit: number },
  columns: { orderId: number, providerOrder: text, provider: text },
  text: `SELECT unrecognized_numbers.order_id AS "orderId",
      unrecognized_numbers.provider_order AS "providerOrder", providers.name AS "provider"
    FROM unrecognized_numbers CROSS JOIN orders
      JOIN providers ON providers.provider_id = orders.provider_id
    WHERE orders.order_id = unrecognized_numbers.order_id AND ${OPEN_ORDER_CONDITION}
    ORDER BY unrecognized_numbers.order_id LIMIT :limit`,
});

const OF_ORDER = query({
  parameters: { orderId: number },
  columns: fields(unrecognizedNumbers),
  text: `SELECT ${select(unrecognizedNumbers)} FROM unrecognized_numbers WHERE order_id = :orderId`,
});

/** A provider's unrecognized numbers, by order number, at most `limit`. */
export function listUnrecognizedNumbers(reader: Reader, providerId: number, limit: number) {
  return reader.all(OF_PROVIDER, { providerId, limit });
}

export interface UnrecognizedOrder {
  orderId: number;
  providerOrder: string;
  /** The provider's name. */
  provider: string;
}

/** The unrecognized orders of all providers, by order number, at most `limit`. */
export function listUnrecognized(reader: Reader, limit: number): UnrecognizedOrder[] {
  return reader.all(ALL, { limit });
}

/** Finds the entry of an order. */
export function findUnrecognizedNumber(
  reader: Reader,
  orderId: number,
): UnrecognizedNumber | undefined {
  return reader.one(OF_ORDER, { orderId });
}

/** Stores an entry, unless the order has one. */
export function insertUnrecognizedNumber(tx: Tx, found: UnrecognizedNumber): void {
  if (tx.row(unrecognizedNumbers.byKey, found.orderId)) return;
  tx.insert(unrecognizedNumbers, found);
}

export function deleteUnrecognizedNumber(tx: Tx, orderId: number): void {
  const found = tx.row(unrecognizedNumbers.byKey, orderId);
  if (found) tx.delete(unrecognizedNumbers, found);
}
