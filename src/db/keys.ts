// API keys, looked up by their hash: the text of a key is not stored.

import { and, asc, eq, getTableColumns, gte, isNull, lte, or, sql } from "drizzle-orm";
import { KEY_USE_INTERVAL_MS, type KeyScope, type KeyType } from "../domain/keys.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { selectList } from "./raw-rows.ts";
import { keys, users } from "./schema.ts";

/** The fields of a key that a request needs. */
export interface CallerKey {
  id: string;
  resellerAccount: number;
  type: KeyType;
  reach: KeyScope;
  active: boolean;
  /** Null: never. */
  expiresAt: number | null;
  /** Expired for good, even if the clock is put back. */
  ended: boolean;
  /** Networks in CIDR notation, separated by commas; empty: every address. */
  allow: string;
}

export interface Key extends CallerKey {
  hash: string;
  start: string;
  label: string;
  createdAt: number;
}

export interface ListedKey extends Key {
  lastUsedAt: number | null;
  /** The id of the key that it was rotated to. */
  replacedBy: string | null;
  username: string;
}

/** A CallerKey as SQLite returns it. */
type CallerRow = Omit<CallerKey, "active" | "ended"> & { active: number; ended: number };

const queries = prepared((orm, sqlite) => {
  const selectKeys = () =>
    orm
      .select({ ...getTableColumns(keys), username: users.username })
      .from(keys)
      .innerJoin(users, eq(users.account, keys.resellerAccount));
  const callerBy = (column: { name: string }) =>
    sqlite.query<CallerRow, [string]>(
      `SELECT ${selectList({
        id: keys.id,
        resellerAccount: keys.resellerAccount,
        type: keys.type,
        reach: keys.reach,
        active: keys.active,
        expiresAt: keys.expiresAt,
        ended: keys.ended,
        allow: keys.allow,
      })} FROM keys WHERE ${column.name} = ?`,
    );
  return {
    callerByHash: callerBy(keys.hash),
    callerById: callerBy(keys.id),
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
        expiresAt: sql.placeholder("expiresAt"),
        ended: sql.placeholder("ended"),
        allow: sql.placeholder("allow"),
      })
      .prepare(),
    setActive: orm
      .update(keys)
      .set({ active: sql`${sql.placeholder("active")}`, ended: sql`${sql.placeholder("ended")}` })
      .where(eq(keys.id, sql.placeholder("id")))
      .prepare(),
    replace: orm
      .update(keys)
      .set({
        replacedBy: sql`${sql.placeholder("replacedBy")}`,
        expiresAt: sql`${sql.placeholder("expiresAt")}`,
        ended: sql`${sql.placeholder("ended")}`,
      })
      .where(eq(keys.id, sql.placeholder("id")))
      .prepare(),
    endExpired: orm
      .update(keys)
      .set({ ended: true })
      .where(and(lte(keys.expiresAt, sql.placeholder("now")), eq(keys.ended, false)))
      .returning({ id: keys.id })
      .prepare(),
    // The interval is enforced here too, so that no caller can write more often.
    use: orm
      .update(keys)
      .set({ lastUsedAt: sql`${sql.placeholder("usedAt")}` })
      .where(
        and(
          eq(keys.id, sql.placeholder("id")),
          or(
            isNull(keys.lastUsedAt),
            // In both directions: a time written while the clock was ahead must not stay for years.
            gte(sql`abs(${keys.lastUsedAt} - ${sql.placeholder("usedAt")})`, KEY_USE_INTERVAL_MS),
          ),
        ),
      )
      .prepare(),
  };
});

/** For a request; cached by key-cache.ts. */
export function findCallerKeyByHash(connection: Connection, hash: string): CallerKey | undefined {
  const row = queries(connection).callerByHash.get(hash);
  return row ? callerOf(row) : undefined;
}

/** For a command, in its transaction. */
export function findCallerKey(connection: Connection, id: string): CallerKey | undefined {
  const row = queries(connection).callerById.get(id);
  return row ? callerOf(row) : undefined;
}

function callerOf(row: CallerRow): CallerKey {
  return { ...row, active: row.active === 1, ended: row.ended === 1 };
}

export function findKey(connection: Connection, id: string): ListedKey | undefined {
  return queries(connection).byId.get({ id });
}

/** Every key, or those of one reseller, oldest first. */
export function listKeys(connection: Connection, account?: number): ListedKey[] {
  const { all, ofReseller } = queries(connection);
  return account === undefined ? all.all() : ofReseller.all({ account });
}

export function insertKey(tx: Tx, key: Key): void {
  queries(tx).insert.run({ ...key });
}

export function updateKeyActive(tx: Tx, id: string, active: boolean, ended: boolean): void {
  queries(tx).setActive.run({ id, active: active ? 1 : 0, ended: ended ? 1 : 0 });
}

/** Marks expired keys as ended; returns their ids. */
export function updateExpiredKeys(tx: Tx, now: number): string[] {
  return queries(tx)
    .endExpired.all({ now })
    .map(({ id }) => id);
}

/** Sets the successor of a key, and its end at `expiresAt`. */
export function updateKeyReplaced(
  tx: Tx,
  id: string,
  replacement: { replacedBy: string; expiresAt: number; ended: boolean },
): void {
  const { ended, ...rest } = replacement;
  queries(tx).replace.run({ id, ...rest, ended: ended ? 1 : 0 });
}

/** Sets when a key was last used, unless the stored time differs by less than a minute. */
export function updateKeyUsed(tx: Tx, id: string, usedAt: number): void {
  queries(tx).use.run({ id, usedAt });
}
