// Margins: the part of a price that exceeds the provider's charge for the same quantity, at the rate in its list.

import { microsOf, type RateUnit } from "../delivery/costs.ts";
import { type Decimal, parseDecimal } from "../providers/rate-decimals.ts";
import type { PriceUnit } from "./services.ts";

export interface Margin {
  /**
   * The provider's charge for one unit of the price, rounded up. A price per order is compared with the largest order.
   */
  costMicros: number;
  isBelowCost: boolean;
  /** The margin as a percentage of the price, rounded down to a tenth; null: the price is 0. */
  readonly percent: string | null;
}

/** Returns the margin of a price. Null: the provider's package is sold here by units, or the cost is too large. */
export function marginOf(
  priceMicros: number,
  { per, max }: { per: PriceUnit; max: number },
  { rate, unit }: { rate: string; unit: RateUnit },
  rateToUsd: string,
): Margin | null {
  if (unit === "order" && per !== "order") return null;
  const costMicros = microsOf(costOf(parseDecimal(rate)!, unit, per, max), rateToUsd);
  if (costMicros === null) return null;
  return {
    costMicros,
    isBelowCost: priceMicros < costMicros,
    // Computed when it is read: most margins of a long list only tell whether the price is below cost.
    get percent() {
      return percentOf(priceMicros, costMicros);
    },
  };
}

/** A price with its margin; null: the margin is unknown. */
export interface SoldAt {
  priceMicros: number;
  margin: Margin | null;
}

/**
 * Returns whether a change sells below cost for the first time, or at a lower price than before. Such a change asks
 * first. `before`: null for something that was not sold.
 */
export function fallsBelowCost(before: SoldAt | null, after: SoldAt): boolean {
  if (!after.margin?.isBelowCost) return false;
  return !before?.margin?.isBelowCost || after.priceMicros < before.priceMicros;
}

function costOf(rate: Decimal, unit: RateUnit, per: PriceUnit, max: number): Decimal {
  if (unit === "order" || per === "1000") return rate;
  const units = per === "1" ? 1n : BigInt(max);
  return { digits: rate.digits * units, scale: rate.scale + 3 };
}

function percentOf(priceMicros: number, costMicros: number): string | null {
  if (priceMicros === 0) return null;
  const left = BigInt(priceMicros) - BigInt(costMicros);
  const scaled = left * 1000n;
  const price = BigInt(priceMicros);
  const tenths = scaled / price - (scaled < 0n && scaled % price !== 0n ? 1n : 0n);
  const text = (tenths < 0n ? -tenths : tenths).toString().padStart(2, "0");
  return `${tenths < 0n ? "-" : ""}${text.slice(0, -1)}.${text.slice(-1)}`;
}
