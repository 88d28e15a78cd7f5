// Catalogue services: price units, and which fields are well formed.

import { AMOUNT_LIMIT_MICROS } from "./money.ts";
import { QUANTITY_LIMIT } from "./orders.ts";
import { Refusal } from "./refusals.ts";
import { type ServiceType, typeTerms } from "./service-types.ts";

export const PRICE_UNITS = ["1000", "1", "order"] as const;
/** What a price buys: 1000 units, one unit, or the whole order. A price of 0 is a free service: its orders have no transfer. */
export type PriceUnit = (typeof PRICE_UNITS)[number];

export const SERVICE_NAME_LENGTH_LIMIT = 200;
export const CATEGORY_LENGTH_LIMIT = 200;
/** Of a service that was given none. */
export const DEFAULT_CATEGORY = "Services";

/** Whether a number can be the `min` or `max` of a service. */
export function isQuantity(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= QUANTITY_LIMIT;
}

/** What a service is in the words of panels: a type, and a rate. */
export interface PanelTerms {
  type: string;
  /** Of 1,000 units, or of the package. */
  rateMicros: bigint;
}

/**
 * Null for a price that panels have no words for: of type default, per order, whatever its quantity. With one quantity
 * it is a package to them. docs/specification.md#v2-services.
 */
export function panelTerms(service: {
  type: ServiceType;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
}): PanelTerms | null {
  const { type, per, min, max } = service;
  const { words } = typeTerms(type);
  const price = BigInt(service.priceMicros);
  if (per === "1") return { type: words, rateMicros: price * 1000n };
  if (per === "1000" || type !== "default") return { type: words, rateMicros: price };
  return min === max ? { type: typeTerms("package").words, rateMicros: price } : null;
}

/** A service's price before and after, in micros. */
export interface PriceChange {
  id: string;
  before: number;
  after: number;
}

const PERCENT = /^([+-]?)(\d{1,6})(?:\.(\d{1,6}))?%?$/;
/** A percentage is held in millionths of a percent. */
const HUNDRED_PERCENT = 100_000_000n;

/** Millionths of a percent of a text such as `10`, `-5.5%`; null when it is not one, or takes away more than the price. */
export function parsePercent(text: string): bigint | null {
  const [, sign, whole, decimals = ""] = PERCENT.exec(text) ?? [];
  if (whole === undefined) return null;
  const value = BigInt(whole + decimals.padEnd(6, "0"));
  const percent = sign === "-" ? -value : value;
  return percent < -HUNDRED_PERCENT ? null : percent;
}

/** The prices that change, each rounded up to a whole micro. `percent` is in millionths. Refuses: price_too_large. */
export function planPrices(
  services: readonly { id: string; priceMicros: number }[],
  percent: bigint,
): PriceChange[] {
  return services.flatMap(({ id, priceMicros: before }) => {
    const scaled = BigInt(before) * (HUNDRED_PERCENT + percent);
    const after = Number((scaled + HUNDRED_PERCENT - 1n) / HUNDRED_PERCENT);
    if (after > AMOUNT_LIMIT_MICROS) throw new Refusal("price_too_large", { id });
    return after === before ? [] : [{ id, before, after }];
  });
}
