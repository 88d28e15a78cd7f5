// Costs of orders at their provider: by the reported charge, or by the provider's rate. Amounts of a provider are
// decimals of any length, never floats. docs/specification/reports.md#costs. `order_costs` is append-only: a row has the
// cost from then on and the difference, so that a change counts on its own day, as refunds do.

import { type Decimal, parseDecimal } from "../providers/rate-decimals.ts";
import { formatMicros, TRANSFER_LIMIT_MICROS } from "../ledger/money.ts";
import type { ReportedStatus } from "./reported-status.ts";

/**
 * `charge`: reported by the provider. `rate`: computed from its rate. `foreign`: reported in a currency whose rate to
 * USD is not known.
 */
export const COST_BASES = ["charge", "rate", "foreign"] as const;
export type CostBasis = (typeof COST_BASES)[number];

/** The unit of a provider's rate: 1,000 units or an order. */
export type RateUnit = "1000" | "order";

/** The currency of a provider whose rate to USD is 1, unless another is set. */
const DOLLARS = "USD";
const RATE_TO_USD_LIMIT = 40;
const CURRENCY = /^[A-Za-z]{2,8}$/;
export const CURRENCY_FORM = "2 to 8 letters, such as EUR";
export const RATE_TO_USD_FORM = "a decimal number above 0, such as 0.012";
/** Number of decimals added to a rate per order, to compute the cost of a partial order. */
const PART_DECIMALS = 12;

export interface ReportedCost {
  /** A decimal, as decimalText writes it. */
  charge: string;
  /** In upper case; null when the report has none. */
  currency: string | null;
}

/** The cost of an order as known now. A later one replaces it. */
export interface OrderCost {
  /** Number of this cost among the order's costs, from 1. */
  number: number;
  basis: CostBasis;
  /** In the provider's currency, as decimalText writes it. */
  amount: string;
  currency: string | null;
  /** The rate of the order's first cost, which later costs keep. */
  rateToUsd: string;
  costMicros: number;
}

/** The rate and currency by which a provider's amounts are converted to US dollars. */
export interface CurrencyTerms {
  rateToUsd: string;
  /** Null: not set yet. */
  currency: string | null;
}

/** Parses a rate and writes it without needless zeros; null unless it is a decimal number above 0. */
export function parseRateToUsd(text: string): string | null {
  const decimal = parseDecimal(text);
  if (!decimal || decimal.digits === 0n) return null;
  const rate = decimalText(decimal);
  return rate.length <= RATE_TO_USD_LIMIT ? rate : null;
}

/** Returns the currency in upper case; null when malformed. */
export function parseCurrency(text: string): string | null {
  return CURRENCY.test(text) ? text.toUpperCase() : null;
}

/** Formats a decimal without needless zeros: `1.50` and `01.5` become `1.5`. */
export function decimalText({ digits, scale }: Decimal): string {
  const text = String(digits).padStart(scale + 1, "0");
  if (scale === 0) return text;
  const fraction = text.slice(-scale).replace(/0+$/, "");
  return text.slice(0, -scale) + (fraction && `.${fraction}`);
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const digits = ({ digits, scale: own }: Decimal) => digits * 10n ** BigInt(scale - own);
  return { digits: digits(a) + digits(b), scale };
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

/** Converts an amount to micros of USD, rounded up; null above TRANSFER_LIMIT_MICROS. */
export function microsOf(amount: Decimal, rateToUsd: string): number | null {
  const { digits, scale } = multiplyDecimals(amount, parseDecimal(rateToUsd)!);
  const divisor = 10n ** BigInt(scale);
  const micros = (digits * 1_000_000n + divisor - 1n) / divisor;
  return micros <= BigInt(TRANSFER_LIMIT_MICROS) ? Number(micros) : null;
}

/** Returns the currency that a provider's amounts must have; null: the first that it reports decides. */
export function expectedCurrency({ currency, rateToUsd }: CurrencyTerms): string | null {
  return currency ?? (rateToUsd === "1" ? DOLLARS : null);
}

/** Describes a cost for the operator. */
export function costText({ basis, amount, currency, rateToUsd, costMicros }: OrderCost): string {
  const theirs = currency === null ? amount : `${amount} ${currency}`;
  if (basis === "foreign") return `charged ${theirs}: not counted, its rate to USD is not known`;
  const ours = `${formatMicros(costMicros)} USD`;
  const how = basis === "charge" ? "as charged" : "by its rate";
  return rateToUsd === "1" ? `${ours}, ${how}` : `${ours}, ${how}: ${theirs} at ${rateToUsd}`;
}

/**
 * Returns the order's cost at the provider's rate, given the reported status and remaining quantity. A cancelled or
 * failed order costs nothing. A partial order costs its delivered part.
 */
export function costByRate(
  rate: { rate: string; unit: RateUnit },
  quantity: number,
  reported: ReportedStatus,
  remains: number | null,
): Decimal {
  const perUnit = parseDecimal(rate.rate)!;
  const undelivered = { PROCESSING: 0, COMPLETED: 0, PARTIAL: remains ?? 0 } as const;
  const delivered =
    reported === "CANCELLED" || reported === "FAILED" ? 0 : quantity - undelivered[reported];
  if (rate.unit === "1000") {
    return { digits: perUnit.digits * BigInt(delivered), scale: perUnit.scale + 3 };
  }
  const whole = BigInt(quantity);
  const parts = perUnit.digits * 10n ** BigInt(PART_DECIMALS) * BigInt(delivered);
  return { digits: (parts + whole - 1n) / whole, scale: perUnit.scale + PART_DECIMALS };
}

/** Returns what several orders of one service cost together at the provider's rate. */
export function costOfAll(
  { rate, unit }: { rate: string; unit: RateUnit },
  { orders, quantity }: { orders: number; quantity: number },
): Decimal {
  const { digits, scale } = parseDecimal(rate)!;
  if (unit === "order") return { digits: digits * BigInt(orders), scale };
  return { digits: digits * BigInt(quantity), scale: scale + 3 };
}

/**
 * Returns the charge to count for a report; null without one. The charge of a cancelled or failed order becomes 0: the
 * provider refunds it, although many providers still report the old charge.
 */
export function countedCharge(
  reported: ReportedStatus,
  charge: ReportedCost | null,
  last: OrderCost | null,
): ReportedCost | null {
  if (reported !== "CANCELLED" && reported !== "FAILED") return charge;
  const isCharged = charge !== null || (last !== null && last.basis !== "rate");
  return isCharged ? { charge: "0", currency: null } : null;
}

/**
 * Returns the order's cost after a report; null when it does not change. `reported`: the report's charge; if null, the
 * provider's rate counts, unless an earlier report had a charge. An order keeps the rate to USD of its first cost.
 */
export function decideCost(
  last: OrderCost | null,
  reported: ReportedCost | null,
  byRate: () => Decimal | null,
  terms: CurrencyTerms,
): OrderCost | null {
  const number = (last?.number ?? 0) + 1;
  const rateToUsd = last && last.basis !== "foreign" ? last.rateToUsd : terms.rateToUsd;
  if (reported) {
    const { charge: amount, currency } = reported;
    const expected = expectedCurrency(terms);
    const isForeign = currency !== null && expected !== null && currency !== expected;
    const basis = isForeign ? "foreign" : "charge";
    if (
      last?.basis === basis &&
      last.amount === amount &&
      (!isForeign || last.currency === currency)
    )
      return null;
    const costMicros = isForeign ? 0 : microsOf(parseDecimal(amount)!, rateToUsd);
    return costMicros === null ? null : { number, basis, amount, currency, rateToUsd, costMicros };
  }
  if (last && last.basis !== "rate") return null;
  const estimated = byRate();
  if (!estimated) return null;
  const amount = decimalText(estimated);
  const costMicros = microsOf(estimated, rateToUsd);
  if (costMicros === null || last?.amount === amount) return null;
  return { number, basis: "rate", amount, currency: null, rateToUsd, costMicros };
}
