// API keys, found by their hash. A key's text is never here.

import { asc, eq, getTableColumns, sql } from "drizzle-orm";
import type { KeyReach, KeyType } from "../domain/keys.ts";
import { columnsOf, type Connection, prepared, type Tx } from "./connection.ts";
import { keys, users } from "./schema.ts";

/** What a request needs to know of its key. */
export interface CallerKey {
  id: string;
  resellerAccount: number;
  type: KeyType;
  reach: KeyReach;
  active: boolean;
}

export interface Key extends CallerKey {
  hash: string;
  start: string;
  label: string;
  createdAt: number;
}

export interface ListedKey extends Key {
  username: string;
}

const statements = prepared((orm, sqlite) => {
  const selectKeys = () =>
    orm
      .select({ ...getTableColumns(keys), username: users.username })
      .from(keys)
      .innerJoin(users, eq(users.account, keys.resellerAccount));
  return {
    byHash: sqlite.query<Omit<CallerKey, "active"> & { active: number }, [string]>(
      `SELECT ${columnsOf({
        id: keys.id,
        resellerAccount: keys.resellerAccount,
        type: keys.type,
        reach: keys.reach,
        active: keys.active,
      })} FROM keys WHERE hash = ?`,
    ),
    byId: selectKeys()
      .where(eq(keys.id, sql.placeholder("id")))
      .prepare(),
    all: selectKeys().orderBy(asc(keys.createdAt), asc(keys.id)).prepare(),
    ofReseller: selectKeys()
      .where(eq(keys.resellerAccount, sql.placeholder("account")))
      .orderBy(asc(keys.createdAt), asc(keys.id))
      .prepare(),
    insert: orm
      .insert(keys)
      .values({
        id: sql.placeholder("id"),
        resellerAccount: sql.placeholder("resellerAccount"),
        hash: sql.placeholder("hash"),
        start: sql.placeholder("start"),
        type: sql.placeholder("type"),
        reach: sql.placeholder("reach"),
        label: sql.placeholder("label"),
        active: sql.placeholder("active"),
        createdAt: sql.placeholder("createdAt"),
      })
      .prepare(),
    setActive: orm
      .update(keys)
      .set({ active: sql`${sql.placeholder("active")}` })
      .where(eq(keys.id, sql.placeholder("id")))
      .prepare(),
  };
});

export function findKeyByHash(connection: Connection, hash: string): CallerKey | undefined {
  const row = statements(connection).byHash.get(hash);
  return row ? { ...row, active: row.active === 1 } : undefined;
}

export function findKey(connection: Connection, id: string): ListedKey | undefined {
  return statements(connection).byId.get({ id });
}

/** Every key, or those of one reseller, oldest first. */
export function listKeys(connection: Connection, account?: number): ListedKey[] {
  const { all, ofReseller } = statements(connection);
  return account === undefined ? all.all() : ofReseller.all({ account });
}

export function insertKey(tx: Tx, key: Key): void {
  statements(tx).insert.run({ ...key });
}

export function updateKeyActive(tx: Tx, id: string, active: boolean): void {
  statements(tx).setActive.run({ id, active: active ? 1 : 0 });
}
