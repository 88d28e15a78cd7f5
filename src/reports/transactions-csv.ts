// Writes a user's transactions as CSV for the operator, with the operator's notes, which users do not see.

import type { TransactionRow } from "../db/ledger/transactions.ts";
import { csvText } from "../domain/values/csv.ts";
import { formatMicros } from "../domain/ledger/money.ts";

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
