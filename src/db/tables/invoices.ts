// Tables of invoices.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { InvoiceKind, InvoiceMode } from "../../domain/ledger/invoices.ts";
import { bigInteger, type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

/** How invoices are issued, by whom, and their next number: one row. */
export const invoiceSettings = table(
  "invoice_settings",
  {
    id: integer().primaryKey(),
    mode: text().$type<InvoiceMode>().notNull(),
    prefix: text().notNull(),
    nextNumber: integer().notNull(),
    nextId: integer().notNull(),
    sellerName: text().notNull(),
    sellerAddress: text().notNull(),
    sellerTaxId: text().notNull(),
    taxPpm: integer().notNull(),
    taxText: text().notNull(),
  },
  { key: ["id"], lock: catalogueLock, cacheable: true },
);

/** To whom invoices of a reseller are made out. Null: the operator's tax. */
export const billingDetails = table(
  "billing_details",
  {
    account: integer().primaryKey(),
    name: text().notNull(),
    address: text().notNull(),
    taxId: text().notNull(),
    taxPpm: integer(),
    taxText: text(),
  },
  { key: ["account"], lock: ({ account }) => account },
);

export const invoices = table(
  "invoices",
  {
    invoiceId: integer().primaryKey(),
    prefix: text().notNull(),
    number: integer().notNull(),
    kind: text().$type<InvoiceKind>().notNull(),
    account: integer(),
    corrects: integer(),
    issuedAt: integer().notNull(),
    month: integer(),
    totalMicros: bigInteger().notNull(),
    taxMicros: bigInteger().notNull(),
    taxPpm: integer().notNull(),
    taxText: text().notNull(),
    sellerName: text().notNull(),
    sellerAddress: text().notNull(),
    sellerTaxId: text().notNull(),
    buyerName: text().notNull(),
    buyerAddress: text().notNull(),
    buyerTaxId: text().notNull(),
    lines: text().notNull(),
    reason: text(),
    operator: text(),
    carriedOver: integer({ mode: "boolean" }).notNull().default(false),
  },
  { key: ["invoiceId"], unique: { byNumber: ["prefix", "number"] }, lock: catalogueLock },
);

/** The credits that invoices are for. Null: not invoiced yet. */
export const invoiceItems = table(
  "invoice_items",
  {
    seq: integer().primaryKey(),
    account: integer().notNull(),
    month: integer().notNull(),
    createdAt: integer().notNull(),
    amountMicros: integer().notNull(),
    invoiceId: integer(),
  },
  { key: ["seq"], lock: ({ account }) => account },
);

export type InvoiceSettings = RowOf<typeof invoiceSettings>;
export type BillingDetails = RowOf<typeof billingDetails>;
export type InvoiceRow = RowOf<typeof invoices>;
