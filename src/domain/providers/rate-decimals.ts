// Decimal numbers of any length, as providers write rates. Computations use their digits, never floats. Amounts of
// money: domain/ledger/money.ts.

/** A decimal number: digits ÷ 10^scale. Never negative. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

const RATE = /^(\d{1,15})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Parses a decimal number of at most 15 digits before and 30 after the point; null for other text. */
export function parseDecimal(text: string): Decimal | null {
  const match = RATE.exec(text);
  if (!match) return null;
  const [, whole, fraction = "", exponent = "0"] = match;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole! + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}
