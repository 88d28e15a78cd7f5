// Test accounts: a user's second account, created when it is needed. docs/specification/sandbox.md#sandbox-accounts.
// The test side is accounts, not a flag on each row: each query that forgot the flag would mix test money with real
// money. Orders, references, records, transactions and webhooks are apart by their account; catalogue, grants and users
// are found by `test_of`. Lists and figures of the operator must leave test accounts out, which
// test/http/api/sandbox-property.test.ts holds.

import { type Actor, cashAccount } from "../../domain/ledger/ledger.ts";
import { TEST_CREDIT_MICROS, testUsername } from "../../domain/orders/sandbox.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import { wasCredited } from "../../db/ledger/transactions.ts";
import type { Tx } from "../../db/port/port.ts";
import { findTestAccount, insertUser, updateUserFields, type User } from "../../db/users/users.ts";
import type { Context } from "../batch/context.ts";

/**
 * Returns the number of a reseller's test account, for its test keys or its members. The first time, the account is
 * credited with TEST_CREDIT_MICROS, even if another reseller's test key has recharged it before.
 */
export function openTestAccount(tx: Tx, user: User, actor: Actor, context: Context): number {
  const found = findTestAccount(tx, user.account);
  if (found) {
    tx.lock(found.account);
    // The first credit is the only adjustment of a test account.
    if (wasCredited(tx, found.account)) return found.account;
  }
  const account = found?.account ?? insertTestAccount(tx, user, context);
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

/** Creates an empty test account for a user that has none. Returns its number. */
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

/**
 * Renames a test account with its user. Another user may then take the old username, and get a test account of that
 * name.
 */
export function renameTestAccount(tx: Tx, user: Pick<User, "account" | "username" | "name">): void {
  const found = findTestAccount(tx, user.account);
  if (found) updateUserFields(tx, found.account, { username: testUsername(user), name: user.name });
}

/** Locks a user's account and its test account, so that a concurrently created key is either listed or refused. */
export function lockBothAccounts(tx: Tx, account: number): void {
  tx.lock(account);
  const test = findTestAccount(tx, account);
  if (test) tx.lock(test.account);
}
