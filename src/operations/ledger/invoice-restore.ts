// Carries the numbers of invoices over a restore: none is given twice, and none is missing without being named.
// docs/specification/invoices.md#invoices-restore.

import {
  type InvoicesSince,
  lastInvoiceNumber,
  readInvoiceSettings,
  SETTINGS_ID,
} from "../../db/ledger/invoices.ts";
import type { Tx } from "../../db/port/port.ts";
import { invoiceItems, invoices, invoiceSettings } from "../../db/tables/invoices.ts";
import { users } from "../../db/tables/users.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { nextSeries } from "../../domain/ledger/invoices.ts";
import type { Context } from "../batch/context.ts";

export interface CarriedInvoices {
  /** Number of invoices that were issued since the backup and are kept. */
  invoices: number;
  /** The prefix of the new series, which begins because it is not known what was issued; null: none. */
  series: string | null;
}

/** Keeps the invoices issued since the backup. `since` null: it is not known what was issued. */
export function carryInvoices(
  tx: Tx,
  since: InvoicesSince | null,
  { now }: Context,
): CarriedInvoices {
  tx.lock(CATALOGUE_LOCK);
  const settings = readInvoiceSettings(tx);
  const { prefix } = settings;
  const last = lastInvoiceNumber(tx, prefix);
  const isUsed = settings.mode !== "off" || settings.nextId > 1;
  if (since === null) {
    if (!isUsed) return { invoices: 0, series: null };
    const series = nextSeries(prefix, now);
    tx.update(invoiceSettings, { id: SETTINGS_ID }, { prefix: series, nextNumber: 1 });
    return { invoices: 0, series };
  }
  tx.each(since.rows, (row) => {
    const isKept = row.account !== null && tx.row(users.byKey, row.account) !== undefined;
    tx.insert(invoices, { ...row, account: isKept ? row.account : null });
  });
  tx.each(since.items, ({ seq, invoiceId }) => tx.update(invoiceItems, { seq }, { invoiceId }));
  const inSeries = since.rows.filter((row) => row.prefix === prefix).map(({ number }) => number);
  tx.update(
    invoiceSettings,
    { id: SETTINGS_ID },
    {
      nextId: settings.nextId + since.rows.length,
      nextNumber: Math.max(settings.nextNumber, last + 1, ...inSeries.map((each) => each + 1)),
    },
  );
  return { invoices: since.rows.length, series: null };
}
