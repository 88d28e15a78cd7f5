// An invoice as a document in English, for the panel and as a file of its own.

/** @jsxImportSource preact */

import type { ListedInvoice } from "../../db/ledger/invoices.ts";
import { invoiceNumber } from "../../domain/ledger/invoices.ts";
import { monthText } from "../../domain/values/calendar.ts";
import { invoiceDocument, type InvoiceWords } from "../../reports/invoice-document.ts";
import { Paper } from "../../web/components/paper.tsx";
import { moneyText } from "../../web/components/shown.tsx";
import { fileOf } from "../../web/server/layout.tsx";

const ENGLISH: InvoiceWords = {
  title: (kind, number) => `${kind === "invoice" ? "Invoice" : "Correction"} ${number}`,
  date: "Date",
  day: (at) => new Date(at).toISOString().slice(0, 10),
  month: "Month",
  monthName: monthText,
  corrects: "Corrects",
  replaces: "Replaces",
  caption: "Lines of the invoice",
  headings: ["Description", "USD"],
  money: moneyText,
  lines: null,
  net: "Net",
  tax: "Tax",
  rate: (percent) => `${percent} %`,
  total: "Total",
  paid: "Paid in advance. All amounts are in US dollars.",
};

/** Returns the invoice as an HTML file that needs nothing else. */
export function invoiceFile(invoice: ListedInvoice): string {
  return fileOf(invoiceTitle(invoice), <InvoiceDocument invoice={invoice} />);
}

export function invoiceTitle(invoice: ListedInvoice): string {
  return ENGLISH.title(invoice.kind, invoiceNumber(invoice));
}

export function InvoiceDocument({ invoice }: { invoice: ListedInvoice }) {
  return <Paper {...invoiceDocument(invoice, ENGLISH)} />;
}
