// Prices of services for a reseller. Every price that a reseller sees or is charged comes from priceFor.
// docs/specification/catalogue.md#catalogue-prices.

/** A discount of 100 %: discounts are stored in millionths of the price. */
export const FULL_DISCOUNT_PPM = 1_000_000;
const PPM_PER_PERCENT = 10_000;
const PERCENT = /^(\d{1,3})(?:\.(\d{1,4}))?%?$/;

/** Parses a percentage such as `12.5` or `10%`, at most four decimals; null unless it is from 0 to 100. */
export function parseDiscount(text: string): number | null {
  const [, whole, decimals = ""] = PERCENT.exec(text) ?? [];
  if (whole === undefined) return null;
  const ppm = Number(whole) * PPM_PER_PERCENT + Number(decimals.padEnd(4, "0"));
  return ppm <= FULL_DISCOUNT_PPM ? ppm : null;
}

/** Returns the discount in percent: 125000 → 12.5. */
export function discountPercent(ppm: number): number {
  return ppm / PPM_PER_PERCENT;
}

/**
 * Returns the grant's price, if it has one; otherwise the list price less the discount, rounded up to a whole micro.
 * The result is exact: whole multiples of a million micros are multiplied apart from the rest, so no product exceeds
 * 2^53.
 */
export function priceFor(
  listPriceMicros: number,
  ownPriceMicros: number | null | undefined,
  discountPpm: number,
): number {
  if (ownPriceMicros != null) return ownPriceMicros;
  if (discountPpm === 0) return listPriceMicros;
  const share = FULL_DISCOUNT_PPM - discountPpm;
  const rest = listPriceMicros % FULL_DISCOUNT_PPM;
  const millions = (listPriceMicros - rest) / FULL_DISCOUNT_PPM;
  return millions * share + Math.ceil((rest * share) / FULL_DISCOUNT_PPM);
}
