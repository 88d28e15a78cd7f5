// Invoices, and the credits that they are for. Operations write them under CATALOGUE_LOCK, items under the lock of their
// account.

import type { InvoiceMode } from "../../domain/ledger/invoices.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { givenNames, listByFilters } from "../port/filtered-lists.ts";
import type { Page } from "../port/pages.ts";
import type { Reader, TimeWindow, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { halvesOf, microsOf } from "../reports/reports.ts";
import {
  type InvoiceRow,
  type InvoiceSettings,
  invoiceItems,
  invoices,
  invoiceSettings,
} from "../tables/invoices.ts";

/** The id of the only row of the settings. */
export const SETTINGS_ID = 1;

export function readInvoiceSettings(reader: Reader): InvoiceSettings {
  return reader.row(invoiceSettings.byKey, SETTINGS_ID)!;
}

/** An invoice as lists show it. */
export interface ListedInvoice extends InvoiceRow {
  /** Null: the reseller was created after the backup that was restored, so it is gone. */
  username: string | null;
  /** The number of the invoice that it corrects or replaces; null: none. */
  corrected: string | null;
}

/** What was issued since a backup. */
export interface InvoicesSince {
  rows: InvoiceRow[];
  /** The credits of the backup that got an invoice since. */
  items: { seq: number; invoiceId: number }[];
}

export interface InvoiceFilter {
  account: number | null;
  window: TimeWindow;
}

const CONDITIONS = {
  account: "invoices.account = :account",
  from: "invoices.issued_at >= :from",
  to: "invoices.issued_at <= :to",
};

const LIST = listByFilters({
  columns: { ...fields(invoices), username: nullable(text), corrected: nullable(text) },
  parameters: { below: number, account: number, from: number, to: number, limit: number },
  conditions: CONDITIONS,
  text: (and) => `SELECT ${select(invoices)}, users.username AS "username",
      corrected.prefix || CAST(corrected.number AS TEXT) AS "corrected"
    FROM invoices LEFT JOIN users ON users.account = invoices.account
      LEFT JOIN invoices AS corrected ON corrected.invoice_id = invoices.corrects
    WHERE invoices.invoice_id < :below${and} ORDER BY invoices.invoice_id DESC LIMIT :limit`,
});

const SUMS = listByFilters({
  columns: {
    documents: number,
    total: nullable(number),
    totalRest: nullable(number),
    tax: nullable(number),
    taxRest: nullable(number),
  },
  parameters: { account: number, from: number, to: number },
  conditions: CONDITIONS,
  text: (
    and,
  ) => `SELECT count(*) AS "documents", ${halvesOf("total_micros", ["total", "totalRest"])},
      ${halvesOf("tax_micros", ["tax", "taxRest"])}
    FROM invoices WHERE 1 = 1${and}`,
});

/** What the documents of a filter amount to; corrections count as what they take back. */
export interface InvoiceSums {
  documents: number;
  totalMicros: bigint;
  taxMicros: bigint;
}

export function sumInvoices(
  reader: Reader,
  { account, window: { from, to } }: InvoiceFilter,
): InvoiceSums {
  const filter = { account, from, to };
  const list = SUMS(givenNames(filter, ["account", "from", "to"]));
  const { documents, total, totalRest, tax, taxRest } = reader.one(list, filter as never)!;
  return {
    documents,
    totalMicros: microsOf(total ?? 0, totalRest ?? 0),
    taxMicros: microsOf(tax ?? 0, taxRest ?? 0),
  };
}

/** Lists the newest invoices with ids lower than `below`. */
export function listInvoicesBelow(
  reader: Reader,
  { account, window: { from, to } }: InvoiceFilter,
  below: number,
  limit: number,
): Page<ListedInvoice> {
  const filter = { account, from, to };
  const list = LIST(givenNames(filter, ["account", "from", "to"]));
  const rows = reader.all(list, { ...filter, below, limit: limit + 1 } as never);
  if (rows.length <= limit) return { rows, next: null };
  return { rows: rows.slice(0, limit), next: rows[limit - 1]!.invoiceId };
}

export function findInvoice(
  reader: Reader,
  { prefix, number: given }: { prefix: string; number: number },
): InvoiceRow | undefined {
  return reader.row(invoices.byNumber, prefix, given);
}

/** An invoice with what follows it. Undefined: not found. */
export function findListedInvoice(
  reader: Reader,
  number: { prefix: string; number: number },
): (ListedInvoice & { following: ReturnType<typeof listFollowing> }) | undefined {
  const found = findInvoice(reader, number);
  if (!found) return undefined;
  const filter = { account: null, window: { from: null, to: null } };
  const [listed] = listInvoicesBelow(reader, filter, found.invoiceId + 1, 1).rows;
  return { ...listed!, following: listFollowing(reader, found.invoiceId) };
}

const LAST_NUMBER = query({
  parameters: { prefix: text },
  columns: { last: nullable(number) },
  text: `SELECT max(number) AS "last" FROM invoices WHERE prefix = :prefix`,
});

/** Returns the last number of a series; 0 for a new one. */
export function lastInvoiceNumber(reader: Reader, prefix: string): number {
  return reader.one(LAST_NUMBER, { prefix })!.last ?? 0;
}

const CORRECTED = query({
  parameters: { invoiceId: number },
  columns: fields(invoices, "invoiceId", "prefix", "number", "kind", "totalMicros", "taxMicros"),
  text: `SELECT ${select(invoices, "invoiceId", "prefix", "number", "kind", "totalMicros", "taxMicros")}
    FROM invoices WHERE corrects = :invoiceId ORDER BY invoice_id`,
});

/** Lists the corrections of an invoice, and the invoices that replace it, oldest first. */
export function listFollowing(reader: Reader, invoiceId: number) {
  return reader.all(CORRECTED, { invoiceId });
}

/** A credit, or the credits of an account in a month, that has no invoice yet. */
export interface DueGroup {
  account: number;
  month: number;
  /** The transfer; null for a month. */
  seq: number | null;
}

const DUE_CREDITS = query({
  parameters: { limit: number },
  columns: { account: number, month: number, seq: number },
  text: `SELECT account AS "account", month AS "month", seq AS "seq" FROM invoice_items
    WHERE invoice_id IS NULL ORDER BY seq LIMIT :limit`,
});

const DUE_MONTHS = query({
  parameters: { before: number, limit: number },
  columns: { account: number, month: number },
  text: `SELECT DISTINCT month AS "month", account AS "account" FROM invoice_items
    WHERE invoice_id IS NULL AND month < :before ORDER BY month, account LIMIT :limit`,
});

/** Lists what is to be invoiced now, the oldest first. Months from `before` on are not over yet. */
export function listDue(
  reader: Reader,
  mode: InvoiceMode,
  before: number,
  limit: number,
): DueGroup[] {
  if (mode === "off") return [];
  if (mode === "credit") return reader.all(DUE_CREDITS, { limit });
  return reader.all(DUE_MONTHS, { before, limit }).map((group) => ({ ...group, seq: null }));
}

const DAYS = query({
  parameters: { account: number, month: number },
  columns: { day: number, credits: number, thousands: number, rest: number },
  text: `SELECT created_at / ${DAY_MS} AS "day", count(*) AS "credits", ${halvesOf("amount_micros")}
    FROM invoice_items WHERE invoice_id IS NULL AND month = :month AND account = :account
    GROUP BY created_at / ${DAY_MS} ORDER BY created_at / ${DAY_MS}`,
});

/** Sums the credits of a month that have no invoice yet, by day. The caller must hold the account's lock. */
export function sumDueDays(
  reader: Reader,
  { account, month }: DueGroup,
): { day: number; credits: number; micros: bigint }[] {
  return reader.all(DAYS, { account, month }).map(({ day, credits, thousands, rest }) => {
    return { day, credits, micros: microsOf(thousands, rest) };
  });
}

const INVOICE_MONTH = statement({
  parameters: { account: number, month: number, invoiceId: number },
  writes: [invoiceItems],
  text: `UPDATE invoice_items SET invoice_id = :invoiceId
    WHERE invoice_id IS NULL AND month = :month AND account = :account`,
});

const INVOICE_CREDIT = statement({
  parameters: { seq: number, invoiceId: number },
  writes: [invoiceItems],
  text: "UPDATE invoice_items SET invoice_id = :invoiceId WHERE invoice_id IS NULL AND seq = :seq",
});

/** Marks a group's credits as invoiced. The caller must hold the account's lock. */
export function markInvoiced(tx: Tx, { account, month, seq }: DueGroup, invoiceId: number): void {
  if (seq === null) tx.run(INVOICE_MONTH, { account, month, invoiceId });
  else tx.run(INVOICE_CREDIT, { seq, invoiceId });
}
