// Test accounts: one beside a user's own, made when it is first needed. docs/specification.md#sandbox-accounts.

import { type Actor, cashAccount } from "../domain/ledger.ts";
import { TEST_CREDIT_MICROS, testUsername } from "../domain/sandbox.ts";
import { postTransfer } from "../db/ledger.ts";
import type { Tx } from "../db/port.ts";
import { findTestAccount, insertUser, updateUserFields, type User } from "../db/users.ts";
import type { Context } from "./context.ts";

/** The number of a reseller's test account, with TEST_CREDIT_MICROS on it if it is made here. */
export function openTestAccount(tx: Tx, user: User, actor: Actor, context: Context): number {
  const found = findTestAccount(tx, user.account);
  if (found) return found.account;
  const account = insertTestAccount(tx, user, context);
  postTransfer(tx, {
    debitAccount: cashAccount(true),
    creditAccount: account,
    amountMicros: TEST_CREDIT_MICROS,
    kind: "adjustment",
    orderId: null,
    actor,
    note: null,
    publicNote: "test money",
    createdAt: context.now,
  });
  return account;
}

/** An empty test account of a user that has none; returns its number. */
export function insertTestAccount(
  tx: Tx,
  user: Pick<User, "account" | "username" | "name">,
  context: Context,
): number {
  return insertUser(tx, {
    id: context.createId(),
    username: testUsername(user),
    name: user.name,
    parentAccount: null,
    createdAt: context.now,
    testOf: user.account,
  });
}

/** Follows the names of its user: another user may get the old username, and a test account with it. */
export function renameTestAccount(tx: Tx, user: Pick<User, "account" | "username" | "name">): void {
  const found = findTestAccount(tx, user.account);
  if (found) updateUserFields(tx, found.account, { username: testUsername(user), name: user.name });
}

/**
 * Of a user and of its test account. A key that is made meanwhile is made before this, and listed, or after it, and refused.
 */
export function lockSides(tx: Tx, account: number): void {
  tx.lock(account);
  const test = findTestAccount(tx, account);
  if (test) tx.lock(test.account);
}
