// Checks the invariants of invoices: their numbers, and that each is for the credits that it names.

import { linesIn } from "../../domain/ledger/invoices.ts";
import { fields, query, select } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { invoices } from "../tables/invoices.ts";
import { type Check, inPieces } from "./verify.ts";

const PIECE = 500;

/** Each query returns a row (subject, problem) for each violation of its rule. */
export const INVOICE_QUERIES: Record<string, string> = {
  "invoice numbers have no gaps": `
    SELECT 'series ' || prefix AS subject,
      'numbers ' || min(number) || ' to ' || max(number) || ', but ' || count(*) || ' invoices' AS problem
    FROM invoices GROUP BY prefix HAVING max(number) - min(number) + 1 <> count(*)
    UNION ALL SELECT 'all series', 'the last invoice has id ' || max(invoice_id) || ', but there are ' || count(*)
    FROM invoices HAVING max(invoice_id) <> count(*)
    UNION ALL SELECT 'the next invoice', 'number ' || next_number || ', id ' || next_id
    FROM invoice_settings
    WHERE next_id <> (SELECT count(*) + 1 FROM invoices)
      OR next_number <= (SELECT coalesce(max(number), 0) FROM invoices WHERE invoices.prefix = invoice_settings.prefix)`,
  "an invoice is for its credits": `
    SELECT 'invoice ' || prefix || number AS subject,
      'total is ' || total_micros || ' micros, its credits add up to ' || credits AS problem
    FROM (
      SELECT prefix, number, total_micros, (
        SELECT coalesce(sum(amount_micros / 1000000000) * 1000000000 + sum(amount_micros % 1000000000), 0)
        FROM invoice_items WHERE invoice_items.invoice_id = invoices.invoice_id
      ) AS credits
      FROM invoices WHERE corrects IS NULL AND carried_over = 0
    ) AS summed WHERE total_micros <> credits`,
  "a credit to invoice is a credit of its reseller": `
    SELECT 'transfer ' || invoice_items.seq AS subject,
      'is to be invoiced to account ' || account || ' with ' || invoice_items.amount_micros || ' micros' AS problem
    FROM invoice_items LEFT JOIN transfers ON transfers.seq = invoice_items.seq
    WHERE NOT coalesce(debit_account = 1 AND credit_account = account
      AND transfers.amount_micros = invoice_items.amount_micros
      AND transfers.created_at = invoice_items.created_at, FALSE)`,
  "corrections never exceed their invoice": `
    SELECT 'invoice ' || prefix || number AS subject,
      'total is ' || total_micros || ' micros, corrected by ' || corrected AS problem
    FROM (
      SELECT prefix, number, total_micros, (
        SELECT coalesce(sum(correction.total_micros), 0) FROM invoices AS correction
        WHERE correction.corrects = invoices.invoice_id AND correction.kind = 'correction'
      ) AS corrected
      FROM invoices WHERE kind = 'invoice'
    ) AS summed WHERE total_micros + corrected < 0`,
};

const FIELDS = ["invoiceId", "prefix", "number", "totalMicros", "lines"] as const;
const LINES = query({
  parameters: { after: number, limit: number },
  columns: fields(invoices, ...FIELDS),
  text: `SELECT ${select(invoices, ...FIELDS)} FROM invoices
    WHERE invoice_id > :after ORDER BY invoice_id LIMIT :limit`,
});

/** Adds up the lines of each invoice. */
export const INVOICE_SCAN: Check = {
  name: "the lines of an invoice add up",
  async run(store, findings) {
    const read = (after: number) =>
      store.read((reader) => reader.all(LINES, { after, limit: PIECE }));
    for await (const invoice of inPieces(read, ({ invoiceId }) => invoiceId)) {
      const total = linesIn(invoice).reduce((sum, { micros }) => sum + micros, 0n);
      if (total === invoice.totalMicros) continue;
      findings.add(
        `invoice ${invoice.prefix}${invoice.number}`,
        `total is ${invoice.totalMicros} micros, its lines add up to ${total}`,
      );
    }
  },
};
