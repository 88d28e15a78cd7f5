// The reseller's invoices and their corrections, newest first, and one of them to print. Invoices are documents of the
// operator's UTC days and months, so their dates do not follow the member's time zone.

/** @jsxImportSource preact */

import {
  findListedInvoice,
  type ListedInvoice,
  listInvoicesBelow,
} from "../../db/ledger/invoices.ts";
import { INVOICE_NUMBER, invoiceNumber } from "../../domain/ledger/invoices.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { startOfMonth } from "../../domain/values/calendar.ts";
import { invoiceDocument, type InvoiceWords } from "../../reports/invoice-document.ts";
import { List, Pager } from "../../web/components/lists.tsx";
import { Paper } from "../../web/components/paper.tsx";
import { Badge } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { formatsOf } from "../texts/formats.ts";
import type { Call } from "../server/call.ts";
import type { Visitor } from "../server/visitor.ts";
import { monthWords } from "./month.tsx";

const PAGE_SIZE = 50;
/** Invoices on the page of the balance. */
const LAST = 5;
const ALWAYS = { from: null, to: null };

export async function invoicesPage(call: Call): Promise<View> {
  const { visitor, filters } = call;
  const { t } = visitor;
  const { rows, next } = await readInvoices(call, filters.below(), PAGE_SIZE);
  return {
    title: t("invoices.title"),
    body: (
      <>
        <h1>{t("invoices.title")}</h1>
        <InvoiceList visitor={visitor} rows={rows} />
        <Pager call={call} next={next} />
        <p class="actions">
          <a href="/balance">{t("balance.title")}</a>
        </p>
      </>
    ),
  };
}

function readInvoices(call: Call, below: number, limit: number) {
  const { account } = call.visitor;
  return call.read((reader) =>
    listInvoicesBelow(reader, { account, window: ALWAYS }, below, limit),
  );
}

/** Returns the last invoices. Test money gets none. */
export async function readLastInvoices(call: Call): Promise<readonly ListedInvoice[]> {
  if (call.visitor.isTest) return [];
  return (await readInvoices(call, Number.MAX_SAFE_INTEGER, LAST)).rows;
}

/** The last invoices, for the page of the balance; nothing without any. */
export function LastInvoices({
  visitor,
  rows,
}: {
  visitor: Visitor;
  rows: readonly ListedInvoice[];
}) {
  if (rows.length === 0) return null;
  const { t } = visitor;
  return (
    <section aria-labelledby="invoices">
      <h2 id="invoices">{t("invoices.title")}</h2>
      <InvoiceList visitor={visitor} rows={rows} />
      <p>
        <a href="/invoices">{t("invoices.all")}</a>
      </p>
    </section>
  );
}

function InvoiceList({ visitor, rows }: { visitor: Visitor; rows: readonly ListedInvoice[] }) {
  const { t, formats, language } = visitor;
  return (
    <List
      caption={t("invoices.title")}
      rows={rows}
      empty={t("invoices.none")}
      compact
      columns={[
        {
          heading: t("invoices.number"),
          cell: (row) => <a href={pathOf(row)}>{invoiceNumber(row)}</a>,
          place: "title",
        },
        {
          heading: t("invoices.date"),
          cell: ({ issuedAt }) => dayIn(visitor, issuedAt),
          place: "first",
        },
        {
          heading: t("invoices.month"),
          cell: ({ month }) =>
            month === null ? (
              <span class="none">–</span>
            ) : (
              monthWords({ from: startOfMonth(month) }, { language })
            ),
          place: "second",
        },
        {
          heading: t("balance.kind"),
          cell: ({ kind }) => (
            <Badge state={t(`invoices.${kind}`)} tone={kind === "correction" ? "busy" : "quiet"} />
          ),
          place: "state",
        },
        {
          heading: t("balance.amount"),
          number: true,
          cell: ({ totalMicros }) => formats.cents(totalMicros),
          place: "end",
        },
      ]}
    />
  );
}

export async function invoicePage(call: Call): Promise<View> {
  const { visitor } = call;
  const { t } = visitor;
  const number = INVOICE_NUMBER.read(call.params["invoice"]!);
  if ("must" in number) throw refusal("invoice_not_found");
  const invoice = await call.read((reader) => findListedInvoice(reader, number.value));
  if (!invoice || invoice.account !== visitor.account) throw refusal("invoice_not_found");
  const shown = invoiceDocument(invoice, wordsFor(visitor));
  return {
    title: shown.title,
    body: (
      <>
        <p class="actions no-print">
          <a href="/invoices">{t("invoices.all")}</a>
          {invoice.following.map((each) => (
            <a href={pathOf(each)}>
              {t(each.kind === "correction" ? "invoice.correctedBy" : "invoice.replacedBy", {
                number: invoiceNumber(each),
              })}
            </a>
          ))}
        </p>
        <p class="hint no-print">{t("statement.print")}</p>
        <Paper {...shown} />
      </>
    ),
  };
}

function pathOf(invoice: { prefix: string; number: number }): string {
  return `/invoices/${encodeURIComponent(invoiceNumber(invoice))}`;
}

function dayIn({ language }: Pick<Visitor, "language">, at: number): string {
  return formatsOf(language, "UTC").date(at);
}

function wordsFor(visitor: Visitor): InvoiceWords {
  const { t, formats, language } = visitor;
  return {
    title: (kind, number) => t(`invoice.${kind}`, { number }),
    date: t("invoices.date"),
    day: (at) => dayIn(visitor, at),
    month: t("invoices.month"),
    monthName: (month) => monthWords({ from: startOfMonth(month) }, { language }),
    corrects: t("invoice.corrects"),
    replaces: t("invoice.replaces"),
    caption: t("invoice.lines"),
    headings: [t("invoice.description"), "USD"],
    money: (micros) => formats.money(micros),
    lines: {
      credits: ({ date, credits }) =>
        t("invoice.credits", { date: dayIn(visitor, Date.parse(date)), count: credits }),
      credit({ date, seq, reference }) {
        const values = { date: dayIn(visitor, Date.parse(date)), number: String(seq) };
        return reference === null
          ? t("invoice.credit", values)
          : t("invoice.creditNamed", { ...values, reference });
      },
      correctionOf: (number, reason) => t("invoice.correctionOf", { number, reason }),
      replacementOf: (number) => t("invoice.replacementOf", { number }),
    },
    net: t("invoice.net"),
    tax: t("invoice.tax"),
    rate: (percent) => `${formats.number(percent)} %`,
    total: t("invoice.total"),
    paid: t("invoice.paid"),
  };
}
