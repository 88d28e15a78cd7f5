// API keys, looked up by their hash: the text of a key is not stored.

import type { KeyScope, KeyType } from "../domain/keys.ts";
import type { Reader } from "./port.ts";
import { givenOf, listByFilters } from "./filtered-lists.ts";
import { fields, query, select } from "./query.ts";
import { boolean, number, text } from "./table-definition.ts";
import { keys, users } from "./tables.ts";

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
  /** Of a test key: its reseller's account, beside which `resellerAccount` is the test account. Null: of a live key. */
  testOf: number | null;
}

/** As a request's key is found. */
export interface Caller extends CallerKey {
  /** The reseller's, of a test key too: for the log. */
  username: string;
}

export interface Key extends CallerKey {
  hash: string;
  start: string;
  label: string;
  /** From where it was used when `lastUsedAt` was written; null: unknown. */
  lastAddress: string | null;
  createdAt: number;
  /** Inactive because its user is: active again once the user is. */
  suspended: boolean;
}

export interface ListedKey extends Key {
  lastUsedAt: number | null;
  /** The id of the key that it was rotated to. */
  replacedBy: string | null;
  /** The reseller's, of a test key too. */
  username: string;
}

const CALLER_FIELDS = [
  "id",
  "resellerAccount",
  "type",
  "reach",
  "active",
  "expiresAt",
  "ended",
  "allow",
  "testOf",
] as const;

/** A query and not a row: half the columns, for what every request reads. */
const CALLER_BY_HASH = query({
  takes: { hash: text },
  gives: { ...fields(keys, ...CALLER_FIELDS), username: text },
  // Not a join: SQLite would read every user for the one that coalesce() names.
  text: `SELECT ${select(keys, ...CALLER_FIELDS)}, (SELECT users.username FROM users
      WHERE users.account = coalesce(keys.test_of, keys.reseller_account)) AS username
    FROM keys WHERE keys.hash = :hash`,
});

/** Absent or null: any. */
export interface KeyFilter {
  account?: number | null | undefined;
  type?: KeyType | null | undefined;
  /** Not whether it has expired. */
  active?: boolean | null | undefined;
}

const LIST = listByFilters({
  gives: { ...fields(keys), username: text },
  parameters: {
    account: number,
    type: text,
    active: boolean,
    afterTime: number,
    after: text,
    limit: number,
  },
  conditions: {
    account: "users.account = :account",
    type: "keys.type = :type",
    active: "keys.active = :active",
    after: "(keys.created_at, keys.id) > (:afterTime, :after)",
  },
  text: (and) => `SELECT ${select(keys)}, users.username AS username
    FROM keys JOIN users ON users.account = coalesce(keys.test_of, keys.reseller_account)
    WHERE TRUE${and} ORDER BY keys.created_at, keys.id LIMIT :limit`,
});

const EXPIRED = query({
  takes: { now: number },
  gives: fields(keys, "id"),
  text: `SELECT ${select(keys, "id")} FROM keys WHERE expires_at <= :now AND ended = 0`,
});

const USABLE = query({
  takes: { now: number },
  gives: { usable: number },
  text: `SELECT count(*) AS usable FROM keys
    WHERE active = 1 AND ended = 0 AND (expires_at IS NULL OR expires_at > :now)`,
});

export function countUsableKeys(reader: Reader, now: number): number {
  return reader.one(USABLE, { now })!.usable;
}

/** For a request; the server keeps it in memory. A command looks up the key's row. */
export function findCallerKeyByHash(reader: Reader, hash: string): Caller | undefined {
  return reader.one(CALLER_BY_HASH, { hash });
}

export function findKey(reader: Reader, id: string): ListedKey | undefined {
  const key = reader.row(keys.byKey, id);
  if (!key) return undefined;
  const { username } = reader.row(users.byKey, key.testOf ?? key.resellerAccount)!;
  return { ...key, username };
}

/** Oldest first, test keys too: those after the key `after`, or from the first one on. */
export function listKeys(
  reader: Reader,
  filter: KeyFilter = {},
  after: string | null = null,
  limit = Number.MAX_SAFE_INTEGER,
): ListedKey[] {
  const last = after === null ? undefined : reader.row(keys.byKey, after);
  const values = { ...filter, afterTime: last?.createdAt ?? 0, after: last?.id, limit };
  return reader.all(LIST(givenOf(values, ["account", "type", "active", "after"])), values);
}

/** The ids of keys that have expired and are not marked as ended. */
export function listExpiredKeys(reader: Reader, now: number): string[] {
  return reader.all(EXPIRED, { now }).map(({ id }) => id);
}
