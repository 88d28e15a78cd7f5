// The ledger. Only postTransfer writes a balance.

import { isCashAccount, type Transfer } from "../../domain/ledger/ledger.ts";
import type { Tx } from "../port/port.ts";
import { transferDetails, transfers } from "../tables/ledger.ts";
import { users } from "../tables/users.ts";

/**
 * Inserts a transfer, changes the balance of the user on one side (the other side is cash or sales), and returns the
 * transfer's number. Writes nothing and returns null for an amount of 0. The caller must check that the balance
 * suffices; otherwise a CHECK constraint fails the command.
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
