// Amounts, numbers, dates and times in a member's language and time zone.

import type { Language } from "../../domain/members/languages.ts";
import { formatMicros, type Micros } from "../../domain/ledger/money.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../domain/values/spans.ts";

const CENT_MICROS = 10_000n;

export interface Formats {
  language: Language;
  timeZone: string;
  number(value: number): string;
  /** An amount with two decimals. An amount of less than a cent keeps all its digits. */
  cents(micros: Micros): string;
  /** An amount with all its digits, at least two decimals. */
  money(micros: Micros): string;
  /** An amount in any currency, with as many decimals as it has. */
  amount(micros: Micros, currency: string): string;
  /** Like cents, with a plus for a credit. */
  signed(micros: Micros): string;
  date(at: number): string;
  /** A day of UTC, as reports count them. */
  utcDay(at: number): string;
  time(at: number): string;
  /** A span of time in its largest unit, from minutes to days. */
  span(milliseconds: number): string;
}

/** The units of spans, each up to twice the next one. */
const UNITS = [
  ["minute", MINUTE_MS, 2 * HOUR_MS],
  ["hour", HOUR_MS, 2 * DAY_MS],
  ["day", DAY_MS, Number.POSITIVE_INFINITY],
] as const;

const made = new Map<string, Formats>();
/** Number of combinations that are kept. */
const KEPT = 500;

/** Returns the formats of a language and a time zone, made once. */
export function formatsOf(language: Language, timeZone: string): Formats {
  const key = `${language} ${timeZone}`;
  let found = made.get(key);
  if (!found) {
    if (made.size >= KEPT) made.clear();
    made.set(key, (found = createFormats(language, timeZone)));
  }
  return found;
}

function createFormats(language: Language, timeZone: string): Formats {
  const number = new Intl.NumberFormat(language);
  const currency = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
  const cents = new Intl.NumberFormat(language, currency);
  const exact = new Intl.NumberFormat(language, { ...currency, maximumFractionDigits: 6 });
  const date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone });
  const day = new Intl.DateTimeFormat(language, {
    month: "short",
    day: "numeric",
    timeZone: "UTC",
  });
  const time = new Intl.DateTimeFormat(language, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone,
  });
  const units = UNITS.map(([unit, unitMs, belowMs]) => {
    const form = { style: "unit", unit, unitDisplay: "short" } as const;
    return { unitMs, belowMs, format: new Intl.NumberFormat(language, form) };
  });
  // Intl formats decimal text exactly, also above 2^53.
  const decimal = (micros: Micros) => formatMicros(micros) as `${number}`;
  const money = (micros: Micros) => exact.format(decimal(micros));
  const centsText = (micros: Micros) => {
    const value = BigInt(micros);
    const isTiny = value !== 0n && -CENT_MICROS < value && value < CENT_MICROS;
    return isTiny ? money(micros) : cents.format(decimal(micros));
  };
  return {
    language,
    timeZone,
    number: (value) => number.format(value),
    cents: centsText,
    signed: (micros) => `${micros > 0 ? "+" : ""}${centsText(micros)}`,
    money,
    amount: (micros, code) =>
      new Intl.NumberFormat(language, { ...currency, currency: code }).format(decimal(micros)),
    date: (at) => date.format(at),
    utcDay: (at) => day.format(at),
    time: (at) => time.format(at),
    span(milliseconds) {
      const { unitMs, format } = units.find(({ belowMs }) => milliseconds < belowMs)!;
      return format.format(Math.max(1, Math.round(milliseconds / unitMs)));
    },
  };
}
