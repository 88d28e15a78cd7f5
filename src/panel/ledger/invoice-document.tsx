// An invoice as a document on A4, for the panel and as a file of its own.

/** @jsxImportSource preact */

import type { ListedInvoice } from "../../db/ledger/invoices.ts";
import { invoiceNumber, linesIn, taxWords } from "../../domain/ledger/invoices.ts";
import { Money, Typed, TypedLines } from "../../web/components/shown.tsx";
import { fileOf } from "../../web/server/layout.tsx";
import { monthText } from "../../domain/values/calendar.ts";

/** Returns the invoice as an HTML file that needs nothing else. */
export function invoiceFile(invoice: ListedInvoice): string {
  return fileOf(invoiceTitle(invoice), <InvoiceDocument invoice={invoice} />);
}

export function invoiceTitle(invoice: ListedInvoice): string {
  const kind = invoice.kind === "invoice" ? "Invoice" : "Correction";
  return `${kind} ${invoiceNumber(invoice)}`;
}

export function InvoiceDocument({ invoice }: { invoice: ListedInvoice }) {
  const { totalMicros, taxMicros, month, corrected, taxPpm } = invoice;
  return (
    <article class="invoice">
      <Party
        name={invoice.sellerName}
        address={invoice.sellerAddress}
        taxId={invoice.sellerTaxId}
      />
      <h1>{invoiceTitle(invoice)}</h1>
      <div class="invoice-head">
        <Party name={invoice.buyerName} address={invoice.buyerAddress} taxId={invoice.buyerTaxId} />
        <dl>
          <dt>Date</dt>
          <dd>{new Date(invoice.issuedAt).toISOString().slice(0, 10)}</dd>
          {month !== null && (
            <>
              <dt>Month</dt>
              <dd>{monthText(month)}</dd>
            </>
          )}
          {corrected !== null && (
            <>
              <dt>{invoice.kind === "correction" ? "Corrects" : "Replaces"}</dt>
              <dd>{corrected}</dd>
            </>
          )}
        </dl>
      </div>
      <table>
        <caption class="hidden">Lines of the invoice</caption>
        <thead>
          <tr>
            <th scope="col">Description</th>
            <th scope="col" class="number">
              USD
            </th>
          </tr>
        </thead>
        <tbody>
          {linesIn(invoice).map(({ text, micros }) => (
            <tr>
              <td>
                <Typed text={text} />
              </td>
              <td class="number">
                <Money micros={micros} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {taxPpm > 0 && (
            <>
              <Sum text="Net" micros={totalMicros - taxMicros} />
              <Sum text={taxWords(invoice)} micros={taxMicros} />
            </>
          )}
          <Sum text="Total" micros={totalMicros} strong />
        </tfoot>
      </table>
      {taxPpm === 0 && invoice.taxText !== "" && (
        <p>
          <Typed text={invoice.taxText} />
        </p>
      )}
      {invoice.kind === "invoice" && corrected === null && (
        <p>Paid in advance. All amounts are in US dollars.</p>
      )}
    </article>
  );
}

function Party({ name, address, taxId }: { name: string; address: string; taxId: string }) {
  return (
    <address>
      <strong>
        <Typed text={name} />
      </strong>
      {address !== "" && <TypedLines text={address} />}
      {taxId !== "" && <Typed text={taxId} />}
    </address>
  );
}

function Sum({ text, micros, strong }: { text: string; micros: bigint; strong?: boolean }) {
  return (
    <tr class={strong ? "strong" : undefined}>
      <th scope="row">
        <Typed text={text} />
      </th>
      <td class="number">
        <Money micros={micros} />
      </td>
    </tr>
  );
}
