// What an invoice says as a document, in the words of a language. The pages of the panel and the portal show it alike.

import type { ListedInvoice } from "../db/ledger/invoices.ts";
import {
  type CreditsOfDay,
  invoiceNumber,
  type InvoiceLine,
  linesIn,
  type SingleCredit,
} from "../domain/ledger/invoices.ts";

export interface InvoiceWords {
  title: (kind: ListedInvoice["kind"], number: string) => string;
  date: string;
  /** Writes the UTC day of a time. */
  day: (at: number) => string;
  month: string;
  monthName: (month: number) => string;
  corrects: string;
  replaces: string;
  caption: string;
  headings: readonly [text: string, amount: string];
  money: (micros: bigint) => string;
  /** Translates the lines; null: they are shown as they were issued, in English. */
  lines: {
    credits: (line: CreditsOfDay) => string;
    credit: (line: SingleCredit) => string;
    correctionOf: (number: string, reason: string) => string;
    replacementOf: (number: string) => string;
  } | null;
  net: string;
  /** A tax that has no name. */
  tax: string;
  /** Writes a rate in percent. */
  rate: (percent: number) => string;
  total: string;
  paid: string;
}

/** Returns what the document of an invoice shows, as web/components/paper.tsx takes it. */
export function invoiceDocument(invoice: ListedInvoice, words: InvoiceWords) {
  const { kind, issuedAt, month, corrected, totalMicros, taxMicros, taxPpm, taxText } = invoice;
  const facts: [string, string][] = [[words.date, words.day(issuedAt)]];
  if (month !== null) facts.push([words.month, words.monthName(month)]);
  if (corrected !== null) {
    facts.push([kind === "correction" ? words.corrects : words.replaces, corrected]);
  }
  const sum = (text: string, micros: bigint) => ({ text, amount: words.money(micros) });
  const notes = taxPpm === 0 && taxText !== "" ? [taxText] : [];
  if (kind === "invoice" && corrected === null) notes.push(words.paid);
  return {
    title: words.title(kind, invoiceNumber(invoice)),
    from: {
      name: invoice.sellerName,
      address: invoice.sellerAddress,
      taxId: invoice.sellerTaxId,
    },
    to: { name: invoice.buyerName, address: invoice.buyerAddress, taxId: invoice.buyerTaxId },
    facts,
    caption: words.caption,
    headings: words.headings,
    lines: linesIn(invoice).map((line) => sum(lineText(line, invoice, words), line.micros)),
    sums: [
      ...(taxPpm > 0
        ? [sum(words.net, totalMicros - taxMicros), sum(taxTextOf(invoice, words), taxMicros)]
        : []),
      { ...sum(words.total, totalMicros), isTotal: true as const },
    ],
    notes,
  };
}

function taxTextOf({ taxPpm, taxText }: ListedInvoice, words: InvoiceWords): string {
  return `${taxText || words.tax} ${words.rate(taxPpm / 10_000)}`;
}

function lineText(
  { text, of }: InvoiceLine,
  { kind, corrected, reason }: ListedInvoice,
  { lines: words }: InvoiceWords,
): string {
  if (!words) return text;
  if (of) return "seq" in of ? words.credit(of) : words.credits(of);
  if (corrected === null || reason === null) return text;
  if (kind === "correction") return words.correctionOf(corrected, reason);
  return text === reason ? words.replacementOf(corrected) : text;
}
