// Reads the invoices that were issued since a backup from the database that a restore replaces.

import type { Database } from "bun:sqlite";
import { select } from "../../db/port/query.ts";
import { type InvoiceRow, invoices } from "../../db/tables/invoices.ts";
import type { InvoicesSince } from "../../db/ledger/invoices.ts";

/** Returns the invoices above the backup's last one, and the credits of the backup that they are for. */
export function readInvoicesSince(backup: Database, replaced: Database): InvoicesSince {
  if (!hasInvoices(replaced)) return { rows: [], items: [] };
  const last = lastInvoice(backup);
  const rows = replaced
    .query(`SELECT ${select(invoices)} FROM invoices WHERE invoice_id > ? ORDER BY invoice_id`)
    .all(last) as (InvoiceRow & { totalMicros: string; taxMicros: string })[];
  const isInBackup = backup.query("SELECT 1 FROM invoice_items WHERE seq = ?");
  const items = replaced
    .query(`SELECT seq AS "seq", invoice_id AS "invoiceId" FROM invoice_items WHERE invoice_id > ?`)
    .all(last) as InvoicesSince["items"];
  return {
    rows: rows.map((row) => ({
      ...row,
      totalMicros: BigInt(row.totalMicros),
      taxMicros: BigInt(row.taxMicros),
      carriedOver: true,
    })),
    items: items.filter(({ seq }) => isInBackup.get(seq) !== null),
  };
}

/** Returns the id of the last invoice; 0 if there is none. */
export function lastInvoice(sqlite: Database): number {
  if (!hasInvoices(sqlite)) return 0;
  const [[last]] = sqlite.query("SELECT max(invoice_id) FROM invoices").values() as [
    [number | null],
  ];
  return last ?? 0;
}

/** Returns whether the database is of a version with invoices. */
function hasInvoices(sqlite: Database): boolean {
  return sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'invoice_items'").get() !== null;
}
