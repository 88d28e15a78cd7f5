// The transactions of GET /transactions as CSV: streamed in steps, since the list has no limit.

import type { ReadStore } from "../db/port.ts";
import {
  listTransactionsBelow,
  type TransactionQuery,
  type TransactionRow,
} from "../db/transactions.ts";
import { formatMicros } from "../domain/money.ts";

/** Rows that one step of a CSV reads: under a millisecond of the event loop. */
const CSV_STEP = 200;
export const CSV_HEADER = "seq,kind,amount,balanceAfter,orderId,note,createdAt";

/** All rows: `limit` is for pages only. A step is read when the previous one has been sent. */
export function csvOf(
  store: ReadStore,
  filters: TransactionQuery,
  below: number,
  onInternalError: (error: unknown) => void,
): Response {
  let next: number | null = below;
  const encoder = new TextEncoder();
  const lines = new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${CSV_HEADER}\r\n`)),
    async pull(controller) {
      if (next === null) return controller.close();
      // Yields to other requests between steps.
      await new Promise(setImmediate);
      const from = next;
      try {
        const page = await store.read((reader) =>
          listTransactionsBelow(reader, filters, from, CSV_STEP),
        );
        next = page.next;
        controller.enqueue(encoder.encode(page.rows.map(csvLine).join("")));
      } catch (error) {
        onInternalError(error);
        // Breaks off the connection: a part must not be taken for the whole. Bun would print a reason given here.
        controller.error();
      }
    },
  });
  return new Response(lines, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="transactions.csv"',
    },
  });
}

function csvLine(line: TransactionRow): string {
  const cells = [
    line.seq,
    line.kind,
    formatMicros(line.amountMicros),
    formatMicros(line.balanceAfterMicros),
    line.orderId ?? "",
    csvText(line.note ?? ""),
    new Date(line.createdAt).toISOString(),
  ];
  return `${cells.join(",")}\r\n`;
}

/** RFC 4180. A spreadsheet would evaluate a cell that starts like a formula: an apostrophe makes it text. */
function csvText(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
