// Amounts of money: whole micros (millionths of a US dollar), never rounded floats. Transfers, prices and charges are
// numbers, because they are limited below 2^53. Refunds may raise a balance above that, so a balance is a bigint. A
// price is in micros per price unit (`per`). docs/specification/ledger.md#amounts.

export type Micros = number | bigint;

export const MICROS_PER_DOLLAR = 1_000_000;
/** The largest amount of one credit or debit from outside: 1,000,000,000 USD. */
export const AMOUNT_LIMIT_MICROS = 1_000_000_000 * MICROS_PER_DOLLAR;
/** The largest balance after a credit: 9,000,000,000 USD. Refunds may exceed it. */
export const BALANCE_LIMIT_MICROS = 9_000_000_000 * MICROS_PER_DOLLAR;
/** The largest amount of one transfer, and so of an order's charge: the largest integer that a double holds exactly. */
export const TRANSFER_LIMIT_MICROS = Number.MAX_SAFE_INTEGER;
/**
 * The largest net deposits of an account (credits less debits, without orders and refunds): 9,000,000,000,000 USD. A
 * refund only returns what was deposited, so no balance exceeds this. It fits SQLite's 64-bit integers.
 */
export const DEPOSIT_LIMIT_MICROS = 9_000_000_000_000n * BigInt(MICROS_PER_DOLLAR);
/** Limit below which `micros / 1e6` prints exactly: up to 2^33 USD, adjacent doubles are less than a micro apart. */
const EXACT_NUMBER_LIMIT_MICROS = 2 ** 33 * MICROS_PER_DOLLAR;

const AMOUNT = /^(\d{1,10})(?:\.(\d{1,6}))?$/;

/** Parses decimal text such as `2.32` to micros; null when malformed or with more than six decimals. Never negative. */
export function parseMicros(text: string): number | null {
  const match = AMOUNT.exec(text);
  if (!match) return null;
  const micros = Number(match[1]) * MICROS_PER_DOLLAR + Number((match[2] ?? "").padEnd(6, "0"));
  return Number.isSafeInteger(micros) ? micros : null;
}

/** Converts a JSON number to micros; null when it is not finite, not positive or has more than six decimals. */
export function microsFromNumber(value: number): number | null {
  const micros = Math.round(value * MICROS_PER_DOLLAR);
  if (!Number.isSafeInteger(micros) || micros <= 0) return null;
  return micros / MICROS_PER_DOLLAR === value ? micros : null;
}

/** Formats the amount as decimal text in USD, without trailing zeros: 2320000 → `2.32`. */
export function formatMicros(micros: Micros): string {
  const sign = micros < 0 ? "-" : "";
  const digits = String(micros).slice(sign.length).padStart(7, "0");
  const decimals = digits.slice(-6).replace(/0+$/, "");
  return sign + digits.slice(0, -6) + (decimals && `.${decimals}`);
}

/** Writes an amount with its currency: 2320000, EUR → `2.32 EUR`. */
export function amountText(micros: Micros, currency: string): string {
  return `${formatMicros(micros)} ${currency}`;
}

/** Rounds to the nearest cent, halves away from zero; for display only. */
export function roundToCents(micros: bigint): bigint {
  const half = micros < 0n ? -5000n : 5000n;
  return ((micros + half) / 10_000n) * 10_000n;
}

/**
 * Returns the amount in USD as a value that JSON.stringify writes exactly, with at most six decimals and no exponent.
 */
export function jsonAmount(micros: Micros): number {
  const number = Number(micros);
  if (Math.abs(number) < EXACT_NUMBER_LIMIT_MICROS) return number / MICROS_PER_DOLLAR;
  return rawJson(formatMicros(micros));
}

/** Returns `a × b ÷ c` rounded up, exact at any size. All three are whole and not negative. */
export function multiplyDivideUp(a: number, b: number, c: number): number {
  const divisor = BigInt(c);
  return Number((BigInt(a) * BigInt(b) + divisor - 1n) / divisor);
}

/** Returns `a × b ÷ c` rounded down, exact at any size. All three are whole and not negative. */
export function multiplyDivideDown(a: number, b: number, c: number): number {
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** Writes JSON in which a bigint is a number with all its digits. */
export function writeExactJson(value: object): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "bigint" ? rawJson(String(part)) : part,
  );
}

/** Reads what writeExactJson wrote. A whole number above 2^53 becomes a bigint. */
export function readExactJson(text: string): unknown {
  return parseJson(text, (_, part, { source }) =>
    typeof part === "number" && Number.isInteger(part) && !Number.isSafeInteger(part)
      ? BigInt(source)
      : part,
  );
}

/**
 * JSON.rawJSON and the reviver's third argument, which the type library lacks. The value of rawJSON may only be passed
 * to JSON.stringify; `source` is the source text of a number, a string or a constant.
 */
export const { rawJSON: rawJson, parse: parseJson } = JSON as unknown as {
  rawJSON(this: void, text: string): number;
  parse(
    this: void,
    text: string,
    reviver: (name: string, part: unknown, context: { source: string }) => unknown,
  ): unknown;
};
