// Amounts as Stripe's API has them: integers of a currency's minor unit, with Stripe's own exceptions.
// https://docs.stripe.com/currencies#minor-units

import { decimalsOf } from "../domain/payments/currencies.ts";
import { MICROS_PER_DOLLAR } from "../domain/ledger/money.ts";

/** https://docs.stripe.com/currencies#zero-decimal, without ISK and UGX, which the API has with two decimals. */
const WITHOUT_DECIMALS = new Set(
  "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "),
);
/** https://docs.stripe.com/currencies#three-decimal. The last of the three must be 0 in a charge. */
const WITH_THREE_DECIMALS = new Set("BHD JOD KWD OMR TND".split(" "));
/** An amount has at most eight digits. */
const AMOUNT_LIMIT = 99_999_999;

function minorMicrosOf(currency: string): number {
  const decimals = WITHOUT_DECIMALS.has(currency) ? 0 : WITH_THREE_DECIMALS.has(currency) ? 3 : 2;
  return MICROS_PER_DOLLAR / 10 ** decimals;
}

/**
 * Whether Stripe can charge every amount of the currency. In currencies with three decimals it cannot: the last digit
 * of a charge must be 0.
 */
export function isChargeable(currency: string): boolean {
  return decimalsOf(currency) <= (WITHOUT_DECIMALS.has(currency) ? 0 : 2);
}

/** Returns an amount in Stripe's minor unit; null if Stripe cannot charge it. */
export function toMinor(micros: number, currency: string): number | null {
  const minor = micros / minorMicrosOf(currency);
  const isCharged = Number.isInteger(minor) && minor > 0 && minor <= AMOUNT_LIMIT;
  return isCharged && isChargeable(currency) ? minor : null;
}

/** Returns an amount that Stripe reported, in millionths of the currency. */
export function toMicros(minor: number, currency: string): number {
  return minor * minorMicrosOf(currency);
}
