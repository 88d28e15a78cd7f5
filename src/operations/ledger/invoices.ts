// Issues and corrects invoices. A number is given in the transaction that inserts its invoice, under one lock, so none is
// left out and none is given twice. docs/specification/invoices.md.

import {
  type DueGroup,
  findInvoice,
  listDue,
  listFollowing,
  markInvoiced,
  readInvoiceSettings,
  SETTINGS_ID,
  sumDueDays,
} from "../../db/ledger/invoices.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import {
  billingDetails,
  invoiceItems,
  type InvoiceRow,
  invoices,
  type InvoiceSettings,
  invoiceSettings,
} from "../../db/tables/invoices.ts";
import { transferDetails } from "../../db/tables/ledger.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { users } from "../../db/tables/users.ts";
import {
  dueBefore,
  type InvoiceLine,
  invoiceNumber,
  linesIn,
  type TaxTerms,
  taxIn,
} from "../../domain/ledger/invoices.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { formatMicros, writeExactJson } from "../../domain/ledger/money.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { counted } from "../../domain/values/text.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { monthText, utcMonthOf } from "../../domain/values/calendar.ts";

/**
 * Notes a credit that an invoice will be for, in the credit's transaction. Child users pay their reseller, and test
 * money is nobody's, so both get no invoices.
 */
export function noteInvoiceItem(
  tx: Tx,
  user: { account: number; parentAccount: number | null; testOf: number | null },
  credit: { seq: number; amountMicros: number },
  { now }: Context,
): void {
  if (user.parentAccount !== null || user.testOf !== null) return;
  if (readInvoiceSettings(tx).mode === "off") return;
  const item = { account: user.account, month: utcMonthOf(now), createdAt: now };
  tx.insert(invoiceItems, { ...item, ...credit, invoiceId: null });
}

export interface IssueInvoices {
  /** Maximum number of invoices of one transaction. */
  limit: number;
}

/** Issues invoices for what is due, the oldest first. Returns how many: call it again until there are none. */
export function issueInvoices(tx: Tx, { limit }: IssueInvoices, context: Context): number {
  tx.lock(CATALOGUE_LOCK);
  const settings = readInvoiceSettings(tx);
  const due = listDue(tx, settings.mode, dueBefore(context.now), limit);
  // With the locks, no credit is added to a group between its sum and its mark.
  for (const { account } of due) tx.lock(account);
  const drafts = tx.each(due, (group) => draftOf(tx, group, settings));
  for (const [index, group] of due.entries()) markInvoiced(tx, group, settings.nextId + index);
  for (const [index, draft] of drafts.entries()) insert(tx, settings, index, draft, context);
  if (drafts.length > 0) advance(tx, settings, drafts.length);
  return drafts.length;
}

/** An invoice without its number. */
type Draft = Omit<InvoiceRow, "invoiceId" | "prefix" | "number" | "issuedAt" | "carriedOver">;

function draftOf(tx: Tx, group: DueGroup, settings: InvoiceSettings): Draft {
  const lines = group.seq === null ? linesOfMonth(tx, group) : [lineOfCredit(tx, group.seq)];
  const terms = termsFor(tx, group.account, settings);
  const month = group.seq === null ? group.month : null;
  return {
    ...terms,
    ...amountsOf(lines, terms),
    kind: "invoice",
    account: group.account,
    corrects: null,
    month,
    reason: null,
    operator: null,
  };
}

function linesOfMonth(tx: Tx, group: DueGroup): InvoiceLine[] {
  return sumDueDays(tx, group).map(({ day, credits, micros }) => {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const text = `${date}: ${counted(credits, "credit")} of the prepaid balance`;
    return { text, micros, of: { date, credits } };
  });
}

function lineOfCredit(tx: Tx, seq: number): InvoiceLine {
  const { createdAt, amountMicros } = tx.row(invoiceItems.byKey, seq)!;
  const reference = tx.row(transferDetails.byKey, seq)?.reference ?? null;
  const date = new Date(createdAt).toISOString().slice(0, 10);
  const named = reference === null ? "" : `, reference ${reference}`;
  const text = `${date}: credit of the prepaid balance, transaction ${seq}${named}`;
  return { text, micros: BigInt(amountMicros), of: { date, seq, reference } };
}

function amountsOf(lines: readonly InvoiceLine[], terms: TaxTerms) {
  const totalMicros = lines.reduce((sum, { micros }) => sum + micros, 0n);
  return { totalMicros, taxMicros: taxIn(totalMicros, terms), lines: writeExactJson(lines) };
}

type Terms = Pick<InvoiceRow, "sellerName" | "sellerAddress" | "sellerTaxId"> &
  Pick<InvoiceRow, "buyerName" | "buyerAddress" | "buyerTaxId"> &
  TaxTerms;

/** Returns the parties of an invoice, and the tax, as they are now. */
function termsFor(reader: Reader, account: number, settings: InvoiceSettings): Terms {
  const { sellerName, sellerAddress, sellerTaxId, taxPpm, taxText } = settings;
  const seller = { sellerName, sellerAddress, sellerTaxId };
  const billing = reader.row(billingDetails.byKey, account);
  const { username, name } = reader.row(users.byKey, account)!;
  const {
    name: buyerName,
    address: buyerAddress,
    taxId: buyerTaxId,
  } = billing ?? {
    name: name || username,
    address: "",
    taxId: "",
  };
  const tax =
    billing && billing.taxPpm !== null
      ? { taxPpm: billing.taxPpm, taxText: billing.taxText ?? "" }
      : { taxPpm, taxText };
  return { ...seller, buyerName, buyerAddress, buyerTaxId, ...tax };
}

function insert(
  tx: Tx,
  { prefix, nextNumber, nextId }: InvoiceSettings,
  index: number,
  draft: Draft,
  { now }: Context,
): InvoiceRow {
  const number = { invoiceId: nextId + index, prefix, number: nextNumber + index };
  return tx.insert(invoices, { ...draft, ...number, issuedAt: now, carriedOver: false });
}

function advance(tx: Tx, { nextNumber, nextId }: InvoiceSettings, issued: number): void {
  const next = { nextNumber: nextNumber + issued, nextId: nextId + issued };
  tx.update(invoiceSettings, { id: SETTINGS_ID }, next);
}

export interface CorrectInvoice {
  prefix: string;
  number: number;
  /** The amount to take back; null: all that is left of the invoice. */
  amountMicros: number | null;
  reason: string;
  /** Whether another invoice for the same amount follows, made out to the parties as they are now. */
  reissue: boolean;
  actor: Actor;
}

export interface CorrectedInvoice {
  /** The number of the correction. */
  correction: string;
  /** The number of the invoice that replaces the corrected one; null: none. */
  replacement: string | null;
}

/**
 * Corrects an invoice by a further document. Refuses: invoice_not_found, invoice_is_correction, invoice_corrected,
 * invoice_amount_too_large, invoice_seller_missing.
 */
export function correctInvoice(
  tx: Tx,
  command: CorrectInvoice,
  context: Context,
): CorrectedInvoice {
  const { amountMicros, reason, reissue, actor } = command;
  tx.lock(CATALOGUE_LOCK);
  const settings = readInvoiceSettings(tx);
  const invoice = findInvoice(tx, command);
  if (!invoice) throw refusal("invoice_not_found");
  if (invoice.kind === "correction") throw refusal("invoice_is_correction");
  const earlier = listFollowing(tx, invoice.invoiceId).filter(({ kind }) => kind === "correction");
  const leftMicros = earlier.reduce((sum, each) => sum + each.totalMicros, invoice.totalMicros);
  if (leftMicros === 0n) throw refusal("invoice_corrected");
  const micros = amountMicros === null ? leftMicros : BigInt(amountMicros);
  if (micros > leftMicros)
    throw new Refusal("invoice_amount_too_large", { left: formatMicros(leftMicros) });
  const { account } = invoice;
  if (reissue && (account === null || settings.sellerName === "")) {
    throw refusal("invoice_seller_missing");
  }
  // Nothing is refused from here on.
  const leftTax = earlier.reduce((sum, each) => sum + each.taxMicros, invoice.taxMicros);
  const name = invoiceNumber(invoice);
  const text = `Correction of invoice ${name}: ${reason}`;
  const corrected = insert(
    tx,
    settings,
    0,
    {
      ...invoice,
      kind: "correction",
      corrects: invoice.invoiceId,
      totalMicros: -micros,
      // The last correction takes back the rest of the tax, so that roundings do not remain.
      taxMicros: micros === leftMicros ? -leftTax : -taxIn(micros, invoice),
      lines: writeExactJson([{ text, micros: -micros }]),
      reason,
      operator: actor.operator,
    },
    context,
  );
  const replacement = reissue
    ? insert(
        tx,
        settings,
        1,
        { ...reissued(tx, invoice, micros, settings), operator: actor.operator },
        context,
      )
    : null;
  advance(tx, settings, reissue ? 2 : 1);
  audit(tx, context, {
    actor,
    action: "invoice.correct",
    subject: name,
    account,
    before: null,
    after: {
      correction: invoiceNumber(corrected),
      amountMicros: micros,
      note: reason,
      ...(replacement ? { replacement: invoiceNumber(replacement) } : {}),
    },
  });
  return {
    correction: invoiceNumber(corrected),
    replacement: replacement && invoiceNumber(replacement),
  };
}

/** The invoice again, made out to the parties as they are now. */
function reissued(
  tx: Tx,
  invoice: InvoiceRow,
  micros: bigint,
  settings: InvoiceSettings,
): Omit<Draft, "operator"> {
  const terms = termsFor(tx, invoice.account!, settings);
  const isWhole = micros === invoice.totalMicros;
  const text = `Replaces invoice ${invoiceNumber(invoice)}${invoice.month === null ? "" : ` for ${monthText(invoice.month)}`}`;
  const lines = isWhole ? linesIn(invoice) : [{ text, micros }];
  return {
    ...terms,
    ...amountsOf(lines, terms),
    kind: "invoice",
    account: invoice.account,
    corrects: invoice.invoiceId,
    month: invoice.month,
    reason: text,
  };
}
