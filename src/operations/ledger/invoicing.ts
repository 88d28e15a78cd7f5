// How invoices are issued: the operator's settings, and the billing details of resellers.

import { lastInvoiceNumber, readInvoiceSettings, SETTINGS_ID } from "../../db/ledger/invoices.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  type BillingDetails,
  billingDetails,
  type InvoiceSettings,
  invoiceSettings,
} from "../../db/tables/invoices.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireUser } from "../users/users.ts";

/** The settings that an operator changes. `nextNumber`: the first number of a new series. */
export type InvoicingChanges = Partial<Omit<InvoiceSettings, "id" | "nextId">>;

export interface SetInvoicing {
  /** Absent: the setting stays. */
  changes: InvoicingChanges;
  actor: Actor;
}

/**
 * Changes how invoices are issued. A series goes on after its last number, so only a new one begins where the operator
 * says. Refuses: invoice_seller_missing, invoice_number_fixed.
 */
export function setInvoicing(
  tx: Tx,
  { changes, actor }: SetInvoicing,
  context: Context,
): InvoiceSettings {
  tx.lock(CATALOGUE_LOCK);
  const before = readInvoiceSettings(tx);
  const prefix = changes.prefix ?? before.prefix;
  const last = lastInvoiceNumber(tx, prefix);
  const isNew = last === 0;
  const standing = prefix === before.prefix ? before.nextNumber : 1;
  const nextNumber = isNew ? (changes.nextNumber ?? standing) : last + 1;
  if (changes.nextNumber !== undefined && changes.nextNumber !== nextNumber) {
    throw new Refusal("invoice_number_fixed", { next: nextNumber });
  }
  const after = { ...before, ...changes, nextNumber };
  const isOn = after.mode !== "off";
  if (isOn && (after.sellerName === "" || after.sellerAddress === "")) {
    throw refusal("invoice_seller_missing");
  }
  // Nothing is refused from here on.
  const updated = tx.update(invoiceSettings, { id: SETTINGS_ID }, { ...changes, nextNumber });
  audit(tx, context, {
    actor,
    action: "invoice.settings",
    subject: "invoices",
    account: null,
    before: factsOf(before),
    after: factsOf(updated),
  });
  return updated;
}

function factsOf(settings: InvoiceSettings) {
  const { id: _, nextId: __, ...facts } = settings;
  return facts;
}

export interface SetBilling {
  username: string;
  /** Null: none of its own. */
  billing: Omit<BillingDetails, "account"> | null;
  actor: Actor;
}

/**
 * Sets to whom invoices of a reseller are made out. Refuses: user_not_found,
 * billing_of_child_user, user_erased.
 */
export function setBilling(
  tx: Tx,
  { username, billing, actor }: SetBilling,
  context: Context,
): BillingDetails | null {
  const user = requireUser(tx, username);
  const { account } = user;
  if (user.parentAccount !== null) throw refusal("billing_of_child_user");
  if (user.erasedAt !== null) throw refusal("user_erased");
  tx.lock(account);
  const before = tx.row(billingDetails.byKey, account) ?? null;
  // Nothing is refused from here on.
  if (billing === null) {
    if (before) tx.delete(billingDetails, { account });
  } else if (before) tx.update(billingDetails, { account }, billing);
  else tx.insert(billingDetails, { account, ...billing });
  audit(tx, context, {
    actor,
    action: "user.billing",
    subject: user.username,
    account,
    before: before && billingFacts(before),
    after: billing && billingFacts(billing),
  });
  return billing && { account, ...billing };
}

function billingFacts(billing: Omit<BillingDetails, "account">) {
  const { name, address, taxId, taxPpm, taxText } = billing;
  return { name, address, taxId, taxPpm, taxText };
}
