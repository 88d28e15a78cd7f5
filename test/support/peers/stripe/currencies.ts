// Amounts that Stripe takes: https://docs.stripe.com/currencies.

import { invalid } from "./errors.ts";

/** Minimum amounts in minor units, of the currencies that tests use. */
const MINIMUM: Record<string, number> = {
  usd: 50,
  eur: 50,
  gbp: 30,
  brl: 50,
  jpy: 50,
  krw: 100,
  isk: 6000,
  huf: 17_500,
  kwd: 150,
  try: 1500,
};
/** An amount has at most eight digits. */
const MAXIMUM = 99_999_999;
const THREE_DECIMALS = new Set(["bhd", "jod", "kwd", "omr", "tnd"]);
/** Charged with two decimals, which must be zeros. */
const WHOLE_OF_TWO_DECIMALS = new Set(["isk", "ugx"]);

const AMOUNT = "line_items[0][price_data][unit_amount]";

/** Throws the error for an amount that no charge may have. */
export function requireAmount(amount: number, currency: string): void {
  const least = MINIMUM[currency];
  if (least === undefined) {
    const known = Object.keys(MINIMUM).join(", ");
    throw invalid(
      "currency_not_supported",
      `Invalid currency: ${currency}. Stripe currently supports these currencies: ${known}`,
      "currency",
    );
  }
  if (amount > MAXIMUM)
    throw invalid("amount_too_large", "Amount must be no more than 999,999.99", AMOUNT);
  if (amount < least)
    throw invalid(
      "amount_too_small",
      "The Checkout Session's total amount due must add up to at least the minimum",
      AMOUNT,
    );
  if (THREE_DECIMALS.has(currency) && amount % 10 !== 0)
    throw invalid("parameter_invalid_integer", "The amount's last digit must be 0", AMOUNT);
  if (WHOLE_OF_TWO_DECIMALS.has(currency) && amount % 100 !== 0)
    throw invalid("parameter_invalid_integer", "The amount must be divisible by 100", AMOUNT);
}
