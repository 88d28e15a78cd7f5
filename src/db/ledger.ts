// The ledger. postTransfer is the only function that writes a balance.

import { max } from "drizzle-orm";
import { type Actor, CASH_ACCOUNT, SALES_ACCOUNT, type Transfer } from "../domain/ledger.ts";
import { appender, prepared, type Tx } from "./connection.ts";
import { preparedNumber } from "./numbers.ts";
import { transfers } from "./schema.ts";
import { balanceOf } from "./users.ts";

interface TransferRow extends Omit<Transfer, "actor">, Actor {
  seq: number;
  balanceAfterMicros: number;
}

const statements = prepared((orm, sqlite) => ({
  append: appender<TransferRow, "seq">(
    sqlite,
    transfers,
    "seq",
    preparedNumber(sqlite, "transfers"),
  ),
  addToBalance: sqlite.query<null, [number, number]>(
    "UPDATE users SET balance_micros = balance_micros + ? WHERE account = ?",
  ),
  last: orm
    .select({ seq: max(transfers.seq) })
    .from(transfers)
    .prepare(),
}));

/**
 * Moves the balance of the user on one side of a transfer (the other is cash or sales) and appends it.
 * An amount of 0 moves nothing and writes nothing. The caller has made sure that the balance suffices;
 * a CHECK rolls the transaction back if it does not.
 */
export function postTransfer(tx: Tx, transfer: Transfer): void {
  if (transfer.amountMicros === 0) return;
  const { actor, debitAccount, creditAccount, amountMicros } = transfer;
  addToBalance(tx, debitAccount, -amountMicros);
  addToBalance(tx, creditAccount, amountMicros);
  // After the balances: the row keeps what its user's balance became.
  const balanceAfterMicros = balanceOf(tx, Math.max(debitAccount, creditAccount));
  const { kind, orderId, note, createdAt } = transfer;
  const accounts = { debitAccount, creditAccount, amountMicros, balanceAfterMicros };
  statements(tx).append({ ...accounts, kind, orderId, ...actor, note, createdAt });
}

/** The number of the transfer that was posted last. */
export function lastTransferSeq(tx: Tx): number {
  const seq = statements(tx).last.get()?.seq;
  if (!seq) throw new Error("no transfer was posted yet");
  return seq;
}

function addToBalance(tx: Tx, account: number, amountMicros: number): void {
  if (account === CASH_ACCOUNT || account === SALES_ACCOUNT) return;
  statements(tx).addToBalance.run(amountMicros, account);
}
