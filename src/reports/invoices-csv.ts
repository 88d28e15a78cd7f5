// Invoices as CSV, for the command line and the panel.

import type { ListedInvoice } from "../db/ledger/invoices.ts";
import { csvText } from "../domain/values/csv.ts";
import { invoiceNumber, taxWords } from "../domain/ledger/invoices.ts";
import { formatMicros } from "../domain/ledger/money.ts";
import { monthText } from "../domain/values/calendar.ts";

export const INVOICES_HEADER =
  "number,kind,corrects,issuedAt,month,username,buyer,buyerAddress,buyerTaxId,net,tax,total,taxText";

export function invoiceCells(invoice: ListedInvoice): (string | number)[] {
  const { totalMicros, taxMicros, buyerName, buyerAddress, buyerTaxId } = invoice;
  return [
    csvText(invoiceNumber(invoice)),
    invoice.kind,
    csvText(invoice.corrected ?? ""),
    new Date(invoice.issuedAt).toISOString(),
    invoice.month === null ? "" : monthText(invoice.month),
    csvText(invoice.username ?? ""),
    csvText(buyerName),
    csvText(buyerAddress.replaceAll("\n", ", ")),
    csvText(buyerTaxId),
    formatMicros(totalMicros - taxMicros),
    formatMicros(taxMicros),
    formatMicros(totalMicros),
    csvText(taxWords(invoice)),
  ];
}
