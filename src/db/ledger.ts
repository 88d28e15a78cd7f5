// The ledger. postTransfer is the only function that writes a balance.

import { isCashAccount, type Transfer } from "../domain/ledger.ts";
import type { Tx } from "./port.ts";
import { transferDetails, transfers, users } from "./tables.ts";

/**
 * Changes the balance of the user on one side of a transfer (the other is cash or sales) and inserts the transfer, whose
 * number it returns. An amount of 0 writes nothing: null. The caller has checked that the balance suffices; if it does
 * not, a CHECK constraint fails the command.
 */
export function postTransfer(tx: Tx, transfer: Transfer): number | null {
  const { debitAccount, creditAccount, amountMicros, kind, orderId, actor } = transfer;
  if (amountMicros === 0) return null;
  // User accounts have higher numbers than cash and sales.
  const account = Math.max(debitAccount, creditAccount);
  const user = tx.row(users.byKey, account);
  if (!user) throw new Error(`no user has account ${account}`);
  const change = BigInt(account === creditAccount ? amountMicros : -amountMicros);
  const balanceMicros = user.balanceMicros + change;
  if (isCashAccount(Math.min(debitAccount, creditAccount))) {
    const depositedMicros = user.depositedMicros + change;
    tx.update(users, user, { balanceMicros, depositedMicros });
  } else {
    tx.update(users, user, { balanceMicros });
  }
  const { seq } = tx.insert(transfers, {
    debitAccount,
    creditAccount,
    amountMicros,
    kind,
    orderId,
    keyId: actor.keyId,
    operator: actor.operator,
    note: transfer.note,
    createdAt: transfer.createdAt,
    balanceAfterMicros: balanceMicros,
  });
  const { publicNote = null, reference = null } = transfer;
  if (publicNote !== null || reference !== null) {
    tx.insert(transferDetails, { seq, account, reference, publicNote });
  }
  return seq;
}
