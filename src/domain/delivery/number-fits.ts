// Whether an order number that a provider answers for may be one of our unknown orders: by its charge, its quantity and
// its status. docs/specification/delivery.md#delivery-search.

import { type Decimal, parseDecimal } from "../providers/rate-decimals.ts";
import { type CurrencyTerms, expectedCurrency } from "./costs.ts";
import type { NumberedOrder, SoughtOrder } from "./number-ranges.ts";
import type { Report } from "./polling.ts";
import { statusOfWord } from "./reported-status.ts";

/** The fewest decimals to which a provider is taken to round a charge. */
const DECIMALS_MINIMUM = 2;
/** A charge of fewer units of its last decimal says little: many orders round to it. */
const UNITS_MINIMUM = 20n;
/** The status of an order that was not begun: all of its quantity remains. */
const NOT_BEGUN = "pending";

/** `fits`: the charge is the expected one. `possible`: nothing could be compared. `differs`: something contradicts. */
export type Fit = "fits" | "possible" | "differs";

/** What the provider's charges are compared by. */
export interface ChargeTerms {
  currency: CurrencyTerms;
  /** Decimals of its charges. */
  decimals: number;
  /** Orders of ours with their charges, which a new order for the same service should have in proportion. */
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

/** A pending order whose whole quantity does not remain is another order. 0 means that the provider does not count yet. */
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
 * same service. The orders have at least its quantity, so that their rounding does not grow.
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

/** Whether the charge is `part` ÷ `whole` of an expected one, rounded up or down to the provider's decimals. */
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
