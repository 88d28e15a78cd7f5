// The ledger. postTransfer is the only function that writes a balance.

import { max } from "drizzle-orm";
import { CASH_ACCOUNT, type Transfer } from "../domain/ledger.ts";
import { prepared, type Tx } from "./sqlite/connection.ts";
import { preparedNumber } from "./sqlite/numbers.ts";
import { transfers } from "./schema.ts";

/** In the order of the INSERT's parameters. */
type TransferValues = [
  debit: number,
  credit: number,
  amount: number,
  kind: string,
  order: number | null,
  key: string | null,
  operator: string | null,
  note: string | null,
  createdAt: number,
];

/** `number`: SQL for the row's number; null: SQLite assigns it. */
function insertTransfer(number: string | null): string {
  return `INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, key_id, operator, note,
      created_at, balance_after_micros${number === null ? "" : ", seq"})
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
      (SELECT balance_micros FROM users WHERE account = max(?1, ?2))${number === null ? "" : `, ${number}`})`;
}

// Balances are computed in SQL, where 64-bit integers are exact.
const queries = prepared((orm, sqlite) => ({
  append: sqlite.query<null, TransferValues>(insertTransfer(preparedNumber(sqlite, "transfers"))),
  addToBalance: sqlite.query<null, [number, number]>(
    "UPDATE users SET balance_micros = balance_micros + ? WHERE account = ?",
  ),
  deposit: sqlite.query<null, [number, number]>(
    `UPDATE users SET balance_micros = balance_micros + ?1, deposited_micros = deposited_micros + ?1
    WHERE account = ?2`,
  ),
  last: orm
    .select({ seq: max(transfers.seq) })
    .from(transfers)
    .prepare(),
}));

/**
 * Changes the balance of the user on one side of a transfer (the other is cash or sales) and inserts the transfer.
 * An amount of 0 writes nothing. The caller has checked that the balance suffices; if it does not, a CHECK constraint
 * fails the transaction.
 */
export function postTransfer(tx: Tx, transfer: Transfer): void {
  if (transfer.amountMicros === 0) return;
  const { debitAccount: debit, creditAccount: credit, amountMicros: amount } = transfer;
  const { append, addToBalance, deposit } = queries(tx);
  // User accounts have higher numbers than cash and sales.
  const account = Math.max(debit, credit);
  const change = Math.min(debit, credit) === CASH_ACCOUNT ? deposit : addToBalance;
  change.run(account === credit ? amount : -amount, account);
  const { kind, orderId, actor, note, createdAt } = transfer;
  const { keyId, operator } = actor;
  // After the balance, which the row stores too.
  append.run(debit, credit, amount, kind, orderId, keyId, operator, note, createdAt);
}

/** The number of the last transfer. */
export function lastTransferSeq(tx: Tx): number {
  const seq = queries(tx).last.get()?.seq;
  if (!seq) throw new Error("no transfer was posted yet");
  return seq;
}
