// Invoices: their numbers, amounts and texts. docs/specification/invoices.md.

import { readExactJson } from "./money.ts";
import { label } from "../values/kinds.ts";
import type { Kind } from "../values/kinds.ts";
import { isLabel } from "../values/text.ts";
import { utcMonthOf } from "../values/calendar.ts";

/** For what invoices are issued: nothing, each credit, or the credits of each month. */
export const INVOICE_MODES = ["off", "credit", "month"] as const;
export type InvoiceMode = (typeof INVOICE_MODES)[number];

export type InvoiceKind = "invoice" | "correction";

/** One side of an invoice. An address has several lines. Empty: none. */
export interface Party {
  name: string;
  address: string;
  taxId: string;
}

/** The tax that an amount includes. */
export interface TaxTerms {
  /** In millionths of the amount before tax. */
  taxPpm: number;
  /** Its name, or why there is none, such as "reverse charge". */
  taxText: string;
}

export interface InvoiceLine {
  text: string;
  /** Includes the tax. Negative in a correction. */
  micros: bigint;
  /** What a line about credits says, for other languages. Absent in corrections and older invoices. */
  of?: CreditsOfDay | SingleCredit;
}

/** The credits of a UTC day. */
export interface CreditsOfDay {
  date: string;
  credits: number;
}

export interface SingleCredit {
  /** The UTC day. */
  date: string;
  seq: number;
  reference: string | null;
}

const PARTY_TEXT_LIMIT = 200;
const ADDRESS_LINES_LIMIT = 6;
const PREFIX_LIMIT = 20;
const MICROS_PER_CENT = 10_000n;
const PPM = 1_000_000n;

export const PARTY_NAME = label(PARTY_TEXT_LIMIT);
export const TAX_ID = label(50);
export const TAX_TEXT = label(PARTY_TEXT_LIMIT);
export const INVOICE_REASON = label(PARTY_TEXT_LIMIT);

const ADDRESS_FORM = `1 to ${ADDRESS_LINES_LIMIT} lines, separated by line breaks or semicolons, of at most ${PARTY_TEXT_LIMIT} characters`;

/** Reads an address into lines. */
export const ADDRESS: Kind<string> = {
  form: ADDRESS_FORM,
  read(text) {
    const lines = text
      .split(/[;\n]/)
      .map((line) => line.trim())
      .filter((line) => line !== "");
    const isRight = lines.length > 0 && lines.length <= ADDRESS_LINES_LIMIT;
    if (!isRight || !lines.every((line) => isLabel(line, PARTY_TEXT_LIMIT))) {
      return { must: ADDRESS_FORM };
    }
    return { value: lines.join("\n") };
  },
};

const PREFIX = new RegExp(`^(?:[A-Za-z0-9._-]{0,${PREFIX_LIMIT - 1}}[A-Za-z._-])?(?:R\\d{12}-)?$`);
const PREFIX_FORM = `at most ${PREFIX_LIMIT} letters, digits and . _ -, and must not end in a digit`;

/**
 * The text before the number, such as `2026-`. It ends in no digit, so that no two invoices look the same. After a
 * restore it may end in `R`, the time and `-`.
 */
export const INVOICE_PREFIX: Kind<string> = {
  form: PREFIX_FORM,
  read: (text) => (PREFIX.test(text) ? { value: text } : { must: PREFIX_FORM }),
};

const NUMBER = /^(.*?)([1-9]\d{0,14})$/s;

/** The text of an invoice's number, such as `2026-17`. */
export const INVOICE_NUMBER: Kind<{ prefix: string; number: number }> = {
  form: "an invoice number such as 2026-17",
  read(text) {
    const [, prefix = "", number] = NUMBER.exec(text) ?? [];
    if (number === undefined || !PREFIX.test(prefix)) {
      return { must: "an invoice number such as 2026-17" };
    }
    return { value: { prefix, number: Number(number) } };
  },
};

export function invoiceNumber({ prefix, number }: { prefix: string; number: number }): string {
  return prefix + String(number);
}

/** Returns the tax in an amount that includes it, in whole cents, halves away from zero. */
export function taxIn(totalMicros: bigint, { taxPpm }: Pick<TaxTerms, "taxPpm">): bigint {
  const sign = totalMicros < 0n ? -1n : 1n;
  const divisor = (PPM + BigInt(taxPpm)) * MICROS_PER_CENT;
  const cents = (2n * sign * totalMicros * BigInt(taxPpm) + divisor) / (2n * divisor);
  const tax = cents * MICROS_PER_CENT;
  // An amount of less than a cent cannot hold a whole one.
  return sign * (tax > sign * totalMicros ? 0n : tax);
}

/** Reads the lines of an invoice. */
export function linesIn({ lines }: { lines: string }): InvoiceLine[] {
  type Line = Omit<InvoiceLine, "micros"> & { micros: number | bigint };
  const read = readExactJson(lines) as Line[];
  return read.map((line) => ({ ...line, micros: BigInt(line.micros) }));
}

/** Returns the tax in words, such as `VAT 20 %`, or only its text if the rate is 0. */
export function taxWords({ taxPpm, taxText }: TaxTerms): string {
  if (taxPpm === 0) return taxText;
  return `${taxText === "" ? "Tax" : taxText} ${taxPpm / 10_000} %`;
}

/** Returns the first month that is not over yet. Credits of earlier months are due. */
export function dueBefore(now: number): number {
  return utcMonthOf(now);
}

/**
 * Returns the prefix of the next series of invoices, for when it is not known which numbers of the current series were
 * issued. It contains the time, because the same backup may be restored again.
 */
export function nextSeries(prefix: string, now: number): string {
  const minute = new Date(now).toISOString().replace(/\D/g, "").slice(0, 12);
  return `${prefix.replace(/R\d{12}-$/, "")}R${minute}-`;
}
