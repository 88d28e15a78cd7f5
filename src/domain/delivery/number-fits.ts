// Decides whether a provider's order may be one of our unknown orders: by its charge, its quantity and its status.
// docs/specification/delivery.md#delivery-search.

import { type Decimal, parseDecimal } from "../providers/rate-decimals.ts";
import { type CurrencyTerms, expectedCurrency } from "./costs.ts";
import type { NumberedOrder, SoughtOrder } from "./number-ranges.ts";
import type { Report } from "./polling.ts";
import { statusOfWord } from "./reported-status.ts";

/** A provider's charges are assumed to have at least this many decimals. */
const DECIMALS_MINIMUM = 2;
/**
 * Least charge that shows a fit, in units of its last decimal. A smaller charge shows nothing, because many different
 * charges are rounded to it.
 */
const UNITS_MINIMUM = 20n;
/** The reported status of an order that was not begun: its whole quantity remains. */
const NOT_BEGUN = "pending";

/** `fits`: the charge is the expected one. `possible`: nothing could be compared. `differs`: something contradicts. */
export type Fit = "fits" | "possible" | "differs";

/** What is known of the provider's charges, to compare others with them. */
export interface ChargeTerms {
  currency: CurrencyTerms;
  /** The greatest number of decimals in its charges, at least DECIMALS_MINIMUM. */
  decimals: number;
  /** Our orders with their charges. A new order for the same service should be charged in proportion. */
  charged: readonly { order: NumberedOrder; charge: Decimal }[];
}

/** Returns the terms, from the reports about numbers that the provider knows. `ours`: our orders among them. */
export function chargeTermsOf(
  currency: CurrencyTerms,
  reports: readonly Report[],
  ours: readonly { order: NumberedOrder; report: Report }[],
): ChargeTerms {
  const scales = reports.map(({ cost }) => (cost ? parseDecimal(cost.charge)!.scale : 0));
  const charged = ours.flatMap(({ order, report }) => {
    const status = statusOfWord(report.word ?? "");
    const isWhole = status === "PROCESSING" || status === "COMPLETED";
    const charge = isWhole ? chargeIn(report, currency) : null;
    return charge && charge.digits > 0n ? [{ order, charge }] : [];
  });
  return { currency, decimals: Math.max(DECIMALS_MINIMUM, ...scales), charged };
}

export function fitOf(order: SoughtOrder, report: Report, terms: ChargeTerms): Fit {
  if (hasOtherQuantity(order, report)) return "differs";
  const status = statusOfWord(report.word ?? "");
  const charge = chargeIn(report, terms.currency);
  const isRefunded = (status === "CANCELLED" || status === "FAILED") && charge?.digits === 0n;
  const expected = expectedCharges(order, terms);
  if (!charge || isRefunded || expected.length === 0) return "possible";
  const delivered = status === "PARTIAL" ? deliveredOf(order, report) : null;
  const isEqual = expected.some(
    (each) =>
      isRounded(charge, each, 1n, 1n, terms.decimals) ||
      (delivered !== null && isRounded(charge, each, delivered, order.quantity, terms.decimals)),
  );
  if (!isEqual) return "differs";
  return scaled(charge, terms.decimals)! >= UNITS_MINIMUM ? "fits" : "possible";
}

/**
 * Returns whether a pending order has another quantity than ours: its remains differ. Remains of 0 mean that the
 * provider does not count yet.
 */
function hasOtherQuantity({ quantity, hasPlainCount }: SoughtOrder, report: Report): boolean {
  const { word, remains } = report;
  if (!hasPlainCount || remains === null || remains === 0) return false;
  return word !== null && word.trim().toLowerCase() === NOT_BEGUN && remains !== quantity;
}

function deliveredOf({ quantity }: SoughtOrder, { remains }: Report): bigint | null {
  return remains !== null && remains <= quantity ? BigInt(quantity - remains) : null;
}

/** Returns the charge, or null without one in the provider's currency. */
function chargeIn({ cost }: Report, terms: CurrencyTerms): Decimal | null {
  if (!cost) return null;
  const expected = expectedCurrency(terms);
  const isForeign = cost.currency !== null && expected !== null && cost.currency !== expected;
  return isForeign ? null : parseDecimal(cost.charge);
}

/**
 * A charge that the order may have: `numerator` ÷ `denominator` of an amount. With `isRounded` the amount may be off by
 * one in its last decimal.
 */
interface ExpectedCharge {
  amount: Decimal;
  numerator: bigint;
  denominator: bigint;
  isRounded: boolean;
}

/**
 * Returns the charges that the order may have: by the provider's rate, and in proportion to those of our orders for the
 * same service. Only orders of at least its quantity are used: from smaller ones, the rounding error would grow.
 */
function expectedCharges(order: SoughtOrder, { charged }: ChargeTerms): ExpectedCharge[] {
  const { expected, providerService, quantity } = order;
  const likewise = charged.filter(
    (each) => each.order.providerService === providerService && each.order.quantity >= quantity,
  );
  return [
    ...(expected ? [{ amount: expected, numerator: 1n, denominator: 1n, isRounded: false }] : []),
    ...likewise.map((each) => ({
      amount: each.charge,
      numerator: BigInt(quantity),
      denominator: BigInt(each.order.quantity),
      isRounded: true,
    })),
  ];
}

/** Returns whether the charge is `part` ÷ `whole` of an expected one, rounded up or down to the provider's decimals. */
function isRounded(
  charge: Decimal,
  { amount, numerator, denominator, isRounded: isInexact }: ExpectedCharge,
  part: bigint,
  whole: bigint | number,
  decimals: number,
): boolean {
  const given = scaled(charge, decimals);
  if (given === null) return false;
  const one = 10n ** BigInt(Math.max(amount.scale - decimals, 0));
  const scale = BigInt(Math.max(amount.scale, decimals));
  const digits = amount.digits * 10n ** (scale - BigInt(amount.scale));
  const slack = isInexact ? one : 0n;
  const divisor = denominator * BigInt(whole) * 10n ** (scale - BigInt(decimals));
  const least = ((digits > slack ? digits - slack : 0n) * numerator * part) / divisor;
  const most = ((digits + slack) * numerator * part + divisor - 1n) / divisor;
  return least <= given && given <= most;
}

/** Returns the amount in units of the last decimal; null if it has more decimals. */
function scaled({ digits, scale }: Decimal, decimals: number): bigint | null {
  return scale > decimals ? null : digits * 10n ** BigInt(decimals - scale);
}
