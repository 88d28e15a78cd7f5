// A user's transactions as CSV for the operator: with its own notes, which no user is shown.

import type { TransactionRow } from "../db/transactions.ts";
import { csvText } from "../domain/csv.ts";
import { formatMicros } from "../domain/money.ts";

export const TRANSACTIONS_HEADER =
  "seq,kind,amount,balanceAfter,orderId,by,reference,note,publicNote,createdAt";

export function transactionCells(line: TransactionRow): (string | number)[] {
  return [
    line.seq,
    line.kind,
    formatMicros(line.amountMicros),
    formatMicros(line.balanceAfterMicros),
    line.orderId ?? "",
    csvText(line.operator ?? ""),
    csvText(line.reference ?? ""),
    csvText(line.note ?? ""),
    csvText(line.publicNote ?? ""),
    new Date(line.createdAt).toISOString(),
  ];
}
