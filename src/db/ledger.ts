// The ledger. postTransfer is the only function that writes a balance.

import { eq, max, sql } from "drizzle-orm";
import { CASH_ACCOUNT, SALES_ACCOUNT, type Transfer } from "../domain/ledger.ts";
import { prepared, type Tx } from "./connection.ts";
import { transfers, users } from "./schema.ts";

const statements = prepared((orm) => ({
  insert: orm
    .insert(transfers)
    .values({
      debitAccount: sql.placeholder("debitAccount"),
      creditAccount: sql.placeholder("creditAccount"),
      amountMicros: sql.placeholder("amountMicros"),
      kind: sql.placeholder("kind"),
      orderId: sql.placeholder("orderId"),
      keyId: sql.placeholder("keyId"),
      operator: sql.placeholder("operator"),
      note: sql.placeholder("note"),
      createdAt: sql.placeholder("createdAt"),
      balanceAfterMicros: sql`(select ${users.balanceMicros} from ${users}
        where ${users.account} = ${sql.placeholder("userAccount")})`,
    })
    .prepare(),
  addToBalance: orm
    .update(users)
    .set({ balanceMicros: sql`${users.balanceMicros} + ${sql.placeholder("amountMicros")}` })
    .where(eq(users.account, sql.placeholder("account")))
    .prepare(),
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
  statements(tx).insert.run({
    ...transfer,
    userAccount: Math.max(debitAccount, creditAccount),
    keyId: actor.keyId,
    operator: actor.operator,
  });
}

/** The number of the transfer that was posted last. */
export function lastTransferSeq(tx: Tx): number {
  const seq = statements(tx).last.get()?.seq;
  if (!seq) throw new Error("no transfer was posted yet");
  return seq;
}

function addToBalance(tx: Tx, account: number, amountMicros: number): void {
  if (account === CASH_ACCOUNT || account === SALES_ACCOUNT) return;
  statements(tx).addToBalance.run({ account, amountMicros });
}
