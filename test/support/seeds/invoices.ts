// An invoice of a reseller.

import { listInvoicesBelow } from "../../../src/db/ledger/invoices.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { invoiceNumber } from "../../../src/domain/ledger/invoices.ts";
import type { TestDatabase } from "../databases/test-database.ts";

/** Turns invoices on, credits the user and issues an invoice for it. Returns the number. */
export function seedInvoice(database: TestDatabase, username: string): string {
  const seller = { sellerName: "Nova Ltd", sellerAddress: "1 Main Street\nDublin" };
  const tax = { taxPpm: 200_000, taxText: "VAT" };
  database.run("setInvoicing", { changes: { ...seller, ...tax, mode: "credit", prefix: "A-" } });
  const note = { note: null, reference: `invoice of ${username}` };
  database.run("creditUser", { username, amountMicros: 12_000_000, ...note });
  database.run("issueInvoices", { limit: 1 });
  const { rows } = database.read((reader) => {
    const { account } = findUser(reader, username)!;
    return listInvoicesBelow(reader, { account, window: { from: null, to: null } }, 1e15, 1);
  });
  return invoiceNumber(rows[0]!);
}
