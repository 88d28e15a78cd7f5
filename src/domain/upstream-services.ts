// The services of a provider's list, and what they cost. Rates are decimals of any length, so prices are computed from digits,
// never from a float.

import type { Decimal } from "./decimals.ts";
import { AMOUNT_LIMIT_MICROS } from "./money.ts";
import type { PriceUnit } from "./services.ts";

/** A service as its provider lists it. */
export interface UpstreamService {
  service: string;
  name: string;
  /** DEFAULT_CATEGORY where the provider says none. */
  category: string;
  /** As the provider writes it. */
  type: string;
  dripfeed: boolean;
  /** The price of 1,000 units, or of a package. */
  rate: string;
  min: number;
  max: number;
  /** Whether the provider takes requests for its orders. */
  cancel: boolean;
  refill: boolean;
}

/** An entry of the provider's list that cannot be read. */
export interface UnreadableEntry {
  /** The id of the service at its provider, masked; null where the entry does not say it. */
  service: string | null;
  /** What is wrong with it, for the operator. */
  unreadable: string;
}

export type UpstreamEntry = UpstreamService | UnreadableEntry;

/** `rate × (1 + markup %)` in micros, rounded up to a whole micro. Null above AMOUNT_LIMIT_MICROS. */
export function priceWithMarkup(rate: Decimal, markupPercent: Decimal): number | null {
  const factor = 100n * 10n ** BigInt(markupPercent.scale) + markupPercent.digits;
  const numerator = rate.digits * factor * 1_000_000n;
  const divisor = 100n * 10n ** BigInt(rate.scale + markupPercent.scale);
  const micros = (numerator + divisor - 1n) / divisor;
  return micros <= BigInt(AMOUNT_LIMIT_MICROS) ? Number(micros) : null;
}

/**
 * Whether the price is below the provider's: of a package, of one order; else a price per order is compared with the cost
 * of the largest quantity.
 */
export function isBelowCost(
  service: { priceMicros: number; per: PriceUnit; max: number },
  rate: Decimal,
  isOfPackage = false,
): boolean {
  if (isOfPackage) {
    // Sold by units it is not comparable.
    const scaledPrice = BigInt(service.priceMicros) * 10n ** BigInt(rate.scale);
    return service.per === "order" && scaledPrice < rate.digits * 1_000_000n;
  }
  const units = { "1000": 1000n, "1": 1n, order: BigInt(service.max) }[service.per];
  const scaledPrice = BigInt(service.priceMicros) * 1000n * 10n ** BigInt(rate.scale);
  return scaledPrice < rate.digits * units * 1_000_000n;
}

/** A provider's list that cannot be imported, and why. */
export class CatalogueError extends Error {
  override name = "CatalogueError";
}
