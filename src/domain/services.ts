// Catalogue services: price units, and which fields are well formed.

import { QUANTITY_LIMIT } from "./orders.ts";

export const PRICE_UNITS = ["1000", "1", "order"] as const;
/** What a price buys: 1000 units, one unit, or the whole order. A price of 0 is a free service: its orders have no transfer. */
export type PriceUnit = (typeof PRICE_UNITS)[number];

export const SERVICE_NAME_LENGTH_LIMIT = 200;

/** Whether a number can be the `min` or `max` of a service. */
export function isQuantity(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= QUANTITY_LIMIT;
}
