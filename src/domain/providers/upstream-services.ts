// The services in a provider's list, and our prices for their rates. Prices are computed from the digits of rates,
// never from floats.

import type { Decimal } from "./rate-decimals.ts";
import { AMOUNT_LIMIT_MICROS } from "../ledger/money.ts";
import type { PriceUnit } from "../catalogue/services.ts";

/** A service as its provider lists it. */
export interface UpstreamService {
  service: string;
  name: string;
  /** DEFAULT_CATEGORY when the provider gives none. */
  category: string;
  /** Type as the provider writes it. */
  type: string;
  dripfeed: boolean;
  /** Price of 1,000 units, or of a package. */
  rate: string;
  min: number;
  max: number;
  /** Whether the provider accepts requests to cancel or refill its orders. */
  cancel: boolean;
  refill: boolean;
}

/** An entry of the provider's list that cannot be read. */
export interface UnreadableEntry {
  /** The id of the service at its provider, with the provider's key masked; null when the entry has none. */
  service: string | null;
  /** Why the entry cannot be read, for the operator. */
  unreadable: string;
}

export type UpstreamEntry = UpstreamService | UnreadableEntry;

/** Returns `rate × (1 + markup %)` in micros, rounded up to a whole micro; null above AMOUNT_LIMIT_MICROS. */
export function priceWithMarkup(rate: Decimal, markupPercent: Decimal): number | null {
  const factor = 100n * 10n ** BigInt(markupPercent.scale) + markupPercent.digits;
  const numerator = rate.digits * factor * 1_000_000n;
  const divisor = 100n * 10n ** BigInt(rate.scale + markupPercent.scale);
  const micros = (numerator + divisor - 1n) / divisor;
  return micros <= BigInt(AMOUNT_LIMIT_MICROS) ? Number(micros) : null;
}

/**
 * Returns whether our price is below the provider's rate. With `isOfPackage` the rate is for one order. Otherwise it is
 * for 1,000 units, and a price per order is compared with the cost of the largest quantity.
 */
export function isBelowCost(
  service: { priceMicros: number; per: PriceUnit; max: number },
  rate: Decimal,
  isOfPackage = false,
): boolean {
  if (isOfPackage) {
    // A price per unit cannot be compared with the rate of a package.
    const scaledPrice = BigInt(service.priceMicros) * 10n ** BigInt(rate.scale);
    return service.per === "order" && scaledPrice < rate.digits * 1_000_000n;
  }
  const units = { "1000": 1000n, "1": 1n, order: BigInt(service.max) }[service.per];
  const scaledPrice = BigInt(service.priceMicros) * 1000n * 10n ** BigInt(rate.scale);
  return scaledPrice < rate.digits * units * 1_000_000n;
}

/** Thrown for a provider's list that cannot be imported. The message says why. */
export class CatalogueError extends Error {
  override name = "CatalogueError";
}
