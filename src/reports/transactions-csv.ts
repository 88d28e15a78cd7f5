// Transactions as CSV for the operator, with the operator's notes, which users do not see.

import type { UserTransaction } from "../db/ledger/all-transactions.ts";
import type { TransactionRow } from "../db/ledger/transactions.ts";
import { csvText } from "../domain/values/csv.ts";
import { formatMicros } from "../domain/ledger/money.ts";

const COLUMNS = "kind,amount,balanceAfter,orderId,by,reference,note,publicNote,createdAt";
/** The header for the transactions of one user. */
export const TRANSACTIONS_HEADER = `seq,${COLUMNS}`;
/** The header for the transactions of all users. */
export const ALL_TRANSACTIONS_HEADER = `seq,username,${COLUMNS}`;

export function transactionCells(line: TransactionRow): (string | number)[] {
  return [
    line.seq,
    line.kind,
    formatMicros(line.amountMicros),
    formatMicros(line.balanceAfterMicros),
    line.orderId ?? "",
    csvText(authorOf(line) ?? ""),
    csvText(line.reference ?? ""),
    csvText(line.note ?? ""),
    csvText(line.publicNote ?? ""),
    new Date(line.createdAt).toISOString(),
  ];
}

export function allTransactionsCells(line: UserTransaction): (string | number)[] {
  const [seq, ...cells] = transactionCells(line);
  return [seq!, csvText(line.username), ...cells];
}

/** Returns the operator, or the key by its id, that made the transaction; null for the service itself. */
export function authorOf({ operator, keyId }: TransactionRow): string | null {
  return operator ?? (keyId === null ? null : `key ${keyId}`);
}
