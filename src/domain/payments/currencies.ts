// Currencies of payments: their smallest unit, and their value in US dollars.

import { MICROS_PER_DOLLAR } from "../ledger/money.ts";
import { type Kind } from "../values/kinds.ts";

const CODE = /^[A-Za-z]{3}$/;

/** A currency of three letters (ISO 4217), in upper case. */
export const PAYMENT_CURRENCY: Kind<string> = {
  form: "a currency of three letters, such as USD",
  read: (text) =>
    CODE.test(text)
      ? { value: text.toUpperCase() }
      : { must: "a currency of three letters, such as USD" },
};

/** Returns the number of decimals of a currency: 2 for USD, 0 for JPY. */
export function decimalsOf(currency: string): number {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  return Math.min(maximumFractionDigits, 6);
}

/** Returns the smallest unit of a currency in millionths of it: 10,000 for USD. */
export function unitMicrosOf(currency: string): number {
  return MICROS_PER_DOLLAR / 10 ** decimalsOf(currency);
}

const RATE = /^(\d+)(?:\.(\d+))?$/;

/** Returns an amount in US dollars, rounded down. `rate`: US dollars for one unit of the currency, as decimal text. */
export function toUsdMicros(micros: number, rate: string): number {
  const [, whole = "0", fraction = ""] = RATE.exec(rate) ?? [];
  return Number((BigInt(micros) * BigInt(whole + fraction)) / 10n ** BigInt(fraction.length));
}
