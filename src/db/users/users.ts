// Users and their accounts. Only db/ledger/ledger.ts writes balances.

import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, selectAs } from "../port/query.ts";
import { accounts } from "../tables/ledger.ts";
import { users } from "../tables/users.ts";
import { bigint, nullable, number, text } from "../port/table-definition.ts";

export interface User {
  account: number;
  id: string;
  username: string;
  name: string;
  parentAccount: number | null;
  balanceMicros: bigint;
  /** Credits minus debits, without orders and refunds. */
  depositedMicros: bigint;
  createdAt: number;
  /** The events that its webhooks subscribe to, as bits: domain/webhooks/webhook-events.ts. */
  wantedEvents: number;
  /** The highest low-balance threshold of its webhooks; null: none has one. */
  lowBalanceMicros: number | null;
  /** For a test account, the account of its user; otherwise null. */
  testOf: number | null;
  /** False: the user's keys are suspended. */
  active: boolean;
  /** When the user's personal data was erased; null: not erased. */
  erasedAt: number | null;
  /** Discount on catalogue prices, in millionths of the price. */
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
  /** Absent: true. */
  active?: boolean;
  /** Absent: none. */
  discountPpm?: number;
}

const ALL = query({
  columns: { ...fields(users), resellerId: nullable(text) },
  text: `SELECT ${selectAs(users, "users")}, parents.id AS "resellerId"
    FROM users LEFT JOIN users AS parents ON parents.account = users.parent_account
    WHERE users.test_of IS NULL ORDER BY users.account`,
});

/** A query instead of a row look-up, because every GET /balance reads it. */
const BALANCE = query({
  parameters: { account: number },
  columns: { balanceMicros: bigint },
  text: `SELECT ${select(users, "balanceMicros")} FROM users WHERE account = :account`,
});

/** Finds a user by username, ignoring case. Never returns a test account: see findTestAccount. */
export function findUser(reader: Reader, username: string): User | undefined {
  const user = reader.row(users.byUsername, username);
  return user?.testOf === null ? withReseller(reader, user) : undefined;
}

/** Finds the test account of a user; undefined if it was not yet created. */
export function findTestAccount(reader: Reader, account: number) {
  return reader.row(users.byTestOf, account);
}

/** The number of an account that has no orders. Users have accounts above 2. */
const NO_ACCOUNT = 0;

/**
 * Returns the account whose orders to list: with `test` the test account, or one without orders if there is none.
 */
export function accountOfOrders(reader: Reader, account: number, test: boolean): number {
  return test ? (findTestAccount(reader, account)?.account ?? NO_ACCOUNT) : account;
}

export function findUserByAccount(reader: Reader, account: number): User | undefined {
  return withReseller(reader, reader.row(users.byKey, account));
}

/** The username of an account. For a test account, that of its user. */
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

/** All users in the order of creation, without test accounts. */
export function listUsers(reader: Reader): User[] {
  return reader.all(ALL);
}

/** The balance in micros of an account that must exist. Only for reads: transactions look up the user's row. */
export function balanceOf(reader: Reader, account: number): bigint {
  const row = reader.one(BALANCE, { account });
  if (!row) throw new Error(`no user has account ${account}`);
  return row.balanceMicros;
}

/** Creates a user with its own ledger account. Returns the account's number. */
export function insertUser(tx: Tx, user: NewUser): number {
  const { account } = tx.insert(accounts, { kind: "user" });
  tx.insert(users, { ...user, account });
  return account;
}

/** Changes fields of a user other than its balance. Returns the updated user. */
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
