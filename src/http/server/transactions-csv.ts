// The transactions of GET /transactions as CSV.

import type { ReadStore } from "../../db/port/port.ts";
import {
  listTransactionsBelow,
  type TransactionQuery,
  type TransactionRow,
} from "../../db/ledger/transactions.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { csvResponse, csvText } from "./csv.ts";

/** Rows that one step of a CSV reads: less than a millisecond of the event loop. */
const CSV_STEP = 200;
export const CSV_HEADER = "seq,kind,amount,balanceAfter,orderId,note,createdAt";

/** Returns all matching rows: `limit` is only for pages. */
export function csvOf(
  store: ReadStore,
  filters: TransactionQuery,
  below: number,
  onInternalError: (error: unknown) => void,
): Response {
  const read = async (from: number) => {
    const { rows, next } = await store.read((reader) =>
      listTransactionsBelow(reader, filters, from, CSV_STEP),
    );
    return { rows: rows.map(cellsOf), next };
  };
  return csvResponse("transactions.csv", CSV_HEADER, below, read, onInternalError);
}

function cellsOf(line: TransactionRow): (string | number)[] {
  return [
    line.seq,
    line.kind,
    formatMicros(line.amountMicros),
    formatMicros(line.balanceAfterMicros),
    line.orderId ?? "",
    csvText(line.publicNote ?? ""),
    new Date(line.createdAt).toISOString(),
  ];
}
