// Services of the catalogue: price units, limits of fields, their form for /api/v2, and changes of prices by percent.

import { AMOUNT_LIMIT_MICROS } from "../ledger/money.ts";
import { Refusal } from "../values/error-table.ts";
import { type ServiceType, typeTerms } from "./service-types.ts";

export const PRICE_UNITS = ["1000", "1", "order"] as const;
/** The unit of a price: 1000 units, one unit, or a whole order. Orders of a free service (price 0) have no transfer. */
export type PriceUnit = (typeof PRICE_UNITS)[number];

export const SERVICE_NAME_LENGTH_LIMIT = 200;
export const CATEGORY_LENGTH_LIMIT = 200;
/** Category of a service for which none was set. */
export const DEFAULT_CATEGORY = "Services";

/** A service as /api/v2 describes it. */
export interface SmmTerms {
  type: string;
  /** Price of 1,000 units, or of the package. */
  rateMicros: bigint;
}

/**
 * Describes a service as /api/v2 does: by type and rate. A default service with a price per order is a package there if
 * min equals max. Otherwise /api/v2 cannot express it, and the result is null.
 * docs/specification/smm-api.md#v2-services.
 */
export function smmTerms(service: {
  type: ServiceType;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
}): SmmTerms | null {
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
/** 100 % in millionths of a percent. */
const HUNDRED_PERCENT = 100_000_000n;

/** Parses text such as `10` or `-5.5%` to millionths of a percent; null when malformed or below -100 %. */
export function parsePercent(text: string): bigint | null {
  const [, sign, whole, decimals = ""] = PERCENT.exec(text) ?? [];
  if (whole === undefined) return null;
  const value = BigInt(whole + decimals.padEnd(6, "0"));
  const percent = sign === "-" ? -value : value;
  return percent < -HUNDRED_PERCENT ? null : percent;
}

/**
 * Returns the changed prices, rounded up to a whole micro. `percent`: in millionths of a percent.
 * Refuses: price_too_large.
 */
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
