// Users and their accounts. Balances are written by db/ledger.ts only.

import { asc, eq, getTableColumns, max, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { type Connection, exactly, prepared, type Tx } from "./sqlite/connection.ts";
import { accounts, users } from "./schema.ts";

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
  /** The id of a child user's reseller; null for a reseller. */
  resellerId: string | null;
}

export interface NewUser {
  id: string;
  username: string;
  name: string;
  parentAccount: number | null;
  createdAt: number;
}

const queries = prepared((orm, sqlite) => {
  const parents = alias(users, "parents");
  const selectUsers = () =>
    orm
      .select({
        ...getTableColumns(users),
        balanceMicros: exactly(users.balanceMicros),
        depositedMicros: exactly(users.depositedMicros),
        resellerId: parents.id,
      })
      .from(users)
      .leftJoin(parents, eq(parents.account, users.parentAccount));
  return {
    byUsername: selectUsers()
      .where(eq(users.username, sql.placeholder("username")))
      .prepare(),
    byAccount: selectUsers()
      .where(eq(users.account, sql.placeholder("account")))
      .prepare(),
    all: selectUsers().orderBy(asc(users.account)).prepare(),
    // Not query(), which caches statements by their text: this one is set to return bigints.
    balance: sqlite
      .prepare<{ balanceMicros: bigint }, [number]>(
        "SELECT balance_micros AS balanceMicros FROM users WHERE account = ?",
      )
      .safeIntegers(true),
    lastAccount: orm
      .select({ account: max(accounts.account) })
      .from(accounts)
      .prepare(),
    insertAccount: orm
      .insert(accounts)
      .values({ account: sql.placeholder("account"), kind: "user" })
      .prepare(),
    insert: orm
      .insert(users)
      .values({
        account: sql.placeholder("account"),
        id: sql.placeholder("id"),
        username: sql.placeholder("username"),
        name: sql.placeholder("name"),
        parentAccount: sql.placeholder("parentAccount"),
        createdAt: sql.placeholder("createdAt"),
      })
      .prepare(),
  };
});

/** Looked up case-insensitively. */
export function findUser(connection: Connection, username: string): User | undefined {
  return queries(connection).byUsername.get({ username });
}

export function findUserByAccount(connection: Connection, account: number): User | undefined {
  return queries(connection).byAccount.get({ account });
}

/** Every user, in order of creation. */
export function listUsers(connection: Connection): User[] {
  return queries(connection).all.all();
}

/** The balance of an account that must exist, in micros. */
export function balanceOf(connection: Connection, account: number): bigint {
  const row = queries(connection).balance.get(account);
  if (!row) throw new Error(`no user has account ${account}`);
  return row.balanceMicros;
}

/** Creates the user with a ledger account of its own and returns the account's number. */
export function insertUser(tx: Tx, user: NewUser): number {
  const { lastAccount, insertAccount, insert } = queries(tx);
  const account = (lastAccount.get()?.account ?? 0) + 1;
  insertAccount.run({ account });
  insert.run({ ...user, account });
  return account;
}
