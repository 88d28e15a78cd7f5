// Users and their accounts. Balances are written by db/ledger.ts only.

import type { Reader, Tx } from "./port.ts";
import { fields, query, select, selectAs } from "./query.ts";
import { accounts, users } from "./tables.ts";
import { bigint, nullable, number, text } from "./table-definition.ts";

export interface User {
  account: number;
  id: string;
  username: string;
  name: string;
  parentAccount: number | null;
  balanceMicros: bigint;
  /** Credits less debits, without orders and refunds. */
  depositedMicros: bigint;
  createdAt: number;
  /** Which events its webhooks want, as bits: domain/webhook-events.ts. */
  wantedEvents: number;
  /** The highest of its webhooks' thresholds; null: none wants to know. */
  lowBalanceMicros: number | null;
  /** Of a test account: the account of the user beside whom it is. */
  testOf: number | null;
  /** False: its keys are suspended. */
  active: boolean;
  /** When its personal data was erased; null: it was not. */
  erasedAt: number | null;
  /** What it pays less than the catalogue says, in millionths of the price. */
  discountPpm: number;
  /** The id of a child user's reseller; null for a reseller. */
  resellerId: string | null;
}

export interface NewUser {
  id: string;
  username: string;
  name: string;
  parentAccount: number | null;
  createdAt: number;
  testOf?: number;
}

const ALL = query({
  gives: { ...fields(users), resellerId: nullable(text) },
  text: `SELECT ${selectAs(users, "users")}, parents.id AS "resellerId"
    FROM users LEFT JOIN users AS parents ON parents.account = users.parent_account
    WHERE users.test_of IS NULL ORDER BY users.account`,
});

/** A query and not a row: every GET /balance reads it. */
const BALANCE = query({
  takes: { account: number },
  gives: { balanceMicros: bigint },
  text: `SELECT ${select(users, "balanceMicros")} FROM users WHERE account = :account`,
});

/** Looked up case-insensitively. No test account: it is found from its user. */
export function findUser(reader: Reader, username: string): User | undefined {
  const user = reader.row(users.byUsername, username);
  return user?.testOf === null ? withReseller(reader, user) : undefined;
}

/** The test account of a user; undefined until it is made. */
export function findTestAccount(reader: Reader, account: number) {
  return reader.row(users.byTestOf, account);
}

/** Of nobody: accounts of users are above 2. */
const NO_ACCOUNT = 0;

/** Whose orders are listed: with `test` those of the test account, and without one there are none. */
export function accountOfOrders(reader: Reader, account: number, test: boolean): number {
  return test ? (findTestAccount(reader, account)?.account ?? NO_ACCOUNT) : account;
}

export function findUserByAccount(reader: Reader, account: number): User | undefined {
  return withReseller(reader, reader.row(users.byKey, account));
}

/** The name of an account's user; of a test account, of the user beside whom it is. */
export function usernameOf(reader: Reader, account: number): string {
  const { username, testOf } = reader.row(users.byKey, account)!;
  return testOf === null ? username : reader.row(users.byKey, testOf)!.username;
}

function withReseller(reader: Reader, user: Omit<User, "resellerId"> | undefined) {
  if (!user) return undefined;
  const { parentAccount } = user;
  const parent = parentAccount === null ? undefined : reader.row(users.byKey, parentAccount);
  return { ...user, resellerId: parent?.id ?? null };
}

/** Every user, in order of creation; no test accounts. */
export function listUsers(reader: Reader): User[] {
  return reader.all(ALL);
}

/** The balance of an account that must exist, in micros. For reads: a transaction looks up the user's row. */
export function balanceOf(reader: Reader, account: number): bigint {
  const row = reader.one(BALANCE, { account });
  if (!row) throw new Error(`no user has account ${account}`);
  return row.balanceMicros;
}

/** Creates the user with a ledger account of its own and returns the account's number. */
export function insertUser(tx: Tx, user: NewUser): number {
  const { account } = tx.insert(accounts, { kind: "user" });
  tx.insert(users, { ...user, account });
  return account;
}

/** What may change of a user beside its balance. Returns the user as it is now. */
export function updateUserFields(
  tx: Tx,
  account: number,
  changes: {
    name?: string;
    username?: string;
    active?: boolean;
    erasedAt?: number;
    discountPpm?: number;
  },
): Pick<User, "username" | "name"> {
  const before = tx.row(users.byKey, account)!;
  return tx.update(users, before, changes);
}
