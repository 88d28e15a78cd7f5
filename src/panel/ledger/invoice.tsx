// One invoice: its document to print, what follows it, and the form that corrects it.

/** @jsxImportSource preact */

import { findListedInvoice } from "../../db/ledger/invoices.ts";
import type { Reader } from "../../db/port/port.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { INVOICE_NUMBER, INVOICE_REASON, invoiceNumber } from "../../domain/ledger/invoices.ts";
import { AMOUNT } from "../../domain/values/kinds.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Field, Form } from "../../web/components/fields.tsx";
import { userPath } from "../users/shown-user.ts";
import { InvoiceDocument, invoiceTitle } from "./invoice-document.tsx";
import { invoicePath } from "./invoices.tsx";

function numberIn({ params }: { params: Record<string, string> }) {
  const found = INVOICE_NUMBER.read(params["invoice"]!);
  if ("must" in found) throw refusal("invoice_not_found");
  return found.value;
}

function requireInvoice(reader: Reader, number: { prefix: string; number: number }) {
  const invoice = findListedInvoice(reader, number);
  if (!invoice) throw refusal("invoice_not_found");
  return invoice;
}

export async function invoicePage(call: Call): Promise<View> {
  const invoice = await call.read((reader) => requireInvoice(reader, numberIn(call)));
  const { following, username } = invoice;
  const isLeft = following.reduce((sum, each) => {
    return each.kind === "correction" ? sum + each.totalMicros : sum;
  }, invoice.totalMicros);
  const mayCorrect = invoice.kind === "invoice" && isLeft > 0n;
  return {
    title: invoiceTitle(invoice),
    body: (
      <>
        <p class="actions no-print">
          <a href="/invoices">All invoices</a>
          {username !== null && <a href={userPath(username)}>{username}</a>}
          {following.map((each) => (
            <a href={invoicePath(each)}>
              {each.kind === "correction" ? "corrected by" : "replaced by"} {invoiceNumber(each)}
            </a>
          ))}
        </p>
        <p class="hint no-print">
          Print it with your browser, on A4. An invoice is never changed: a correction is a further
          document.
        </p>
        {invoice.carriedOver && (
          <p class="notice bad no-print">
            It was issued after the backup that was restored, which took its credits back. Correct
            it, or credit them again without an invoice.
          </p>
        )}
        <InvoiceDocument invoice={invoice} />
        {mayCorrect && mayAct(call.visitor.administrator.role, "owner") && (
          <section class="card narrow-card no-print">
            <Form action={`${invoicePath(invoice)}/correct`} submit="Correct">
              <h2>Correct</h2>
              <Field name="reason" label="Reason" hint="shown on the correction" required />
              <Field
                name="amount"
                label="Amount in USD"
                inputmode="decimal"
                hint="empty: all that is left"
              />
              <Box
                name="reissue"
                label="Issue it again with the present names, addresses and tax"
              />
            </Form>
          </section>
        )}
      </>
    ),
  };
}

export async function correctInvoice(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const number = numberIn(submission);
  const reason = form.required("reason", INVOICE_REASON, "");
  const amountMicros = form.optional("amount", AMOUNT, 1);
  const reissue = form.isChecked("reissue");
  form.check();
  const correction = { ...number, amountMicros, reason, reissue };
  const made = await submission.submit("correctInvoice", correction);
  const replaced = made.replacement === null ? "" : `, replaced by ${made.replacement}`;
  return { to: invoicePath(number), note: `It was corrected by ${made.correction}${replaced}.` };
}
