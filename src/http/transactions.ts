// GET /transactions: the caller's transactions, as a page of JSON or, all of them, as CSV.
// docs/specification.md#get-transactions.

import { after, type Awaitable, type ReadStore } from "../db/port.ts";
import {
  listTransactionsBelow,
  type TransactionRow,
  type TransactionQuery,
} from "../db/transactions.ts";
import { formatMicros, jsonAmount } from "../domain/money.ts";
import { type Call, type InternalErrorDeps, noteInternalError } from "./endpoint.ts";
import {
  cursorFilter,
  formatCursor,
  kindFilter,
  limitFilter,
  orderFilter,
  queryOf,
  windowFilter,
} from "./query.ts";

/** Rows that one step of a CSV reads: under a millisecond of the event loop. */
const CSV_STEP = 200;
export const CSV_HEADER = "seq,kind,amount,balanceAfter,orderId,note,createdAt";
const CSV_TYPE = /(^|,)\s*text\/csv\s*(;|,|$)/i;

export function getTransactions(
  deps: InternalErrorDeps & { store: ReadStore },
  { request, key, requestId }: Call,
): Awaitable<object> {
  const { store } = deps;
  const query = queryOf(request);
  const filters = {
    account: key.resellerAccount,
    kind: kindFilter(query),
    orderId: orderFilter(query),
    window: windowFilter(query),
  };
  const limit = limitFilter(query);
  const below = cursorFilter(query, "transactions");
  if (CSV_TYPE.test(request.headers.get("accept") ?? "")) {
    return csvOf(store, filters, below, (error) => noteInternalError(deps, requestId, error));
  }
  const page = store.read((reader) => listTransactionsBelow(reader, filters, below, limit));
  return after(page, ({ rows, next }) => ({
    status: "success",
    transactions: rows.map(transaction),
    nextCursor: next === null ? null : formatCursor("transactions", next),
  }));
}

function transaction(line: TransactionRow) {
  return {
    seq: line.seq,
    kind: line.kind,
    amount: jsonAmount(line.amountMicros),
    balanceAfter: jsonAmount(line.balanceAfterMicros),
    orderId: line.orderId,
    note: line.note,
    createdAt: new Date(line.createdAt).toISOString(),
  };
}

/** All rows: `limit` is for pages only. A step is read when the previous one has been sent. */
function csvOf(
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
