// API keys, looked up by their hash: the text of a key is not stored.

import type { KeyScope, KeyType } from "../domain/keys.ts";
import type { Reader } from "./port.ts";
import { fields, query, select } from "./query.ts";
import { number, text } from "./table-definition.ts";
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
  gives: fields(keys, ...CALLER_FIELDS),
  text: `SELECT ${select(keys, ...CALLER_FIELDS)} FROM keys WHERE hash = :hash`,
});

const LISTED = { ...fields(keys), username: text };
const SELECT_LISTED = `SELECT ${select(keys)}, users.username AS username
  FROM keys JOIN users ON users.account = coalesce(keys.test_of, keys.reseller_account)`;
const ALL = query({
  gives: LISTED,
  text: `${SELECT_LISTED} ORDER BY keys.created_at, keys.id`,
});
const OF_RESELLER = query({
  takes: { account: number },
  gives: LISTED,
  text: `${SELECT_LISTED} WHERE users.account = :account ORDER BY keys.created_at, keys.id`,
});

const EXPIRED = query({
  takes: { now: number },
  gives: fields(keys, "id"),
  text: `SELECT ${select(keys, "id")} FROM keys WHERE expires_at <= :now AND ended = 0`,
});

/** For a request; the server keeps it in memory. A command looks up the key's row. */
export function findCallerKeyByHash(reader: Reader, hash: string): CallerKey | undefined {
  return reader.one(CALLER_BY_HASH, { hash });
}

export function findKey(reader: Reader, id: string): ListedKey | undefined {
  const key = reader.row(keys.byKey, id);
  if (!key) return undefined;
  const { username } = reader.row(users.byKey, key.testOf ?? key.resellerAccount)!;
  return { ...key, username };
}

/** Every key, or those of one reseller, oldest first; test keys too. */
export function listKeys(reader: Reader, account?: number): ListedKey[] {
  return account === undefined ? reader.all(ALL) : reader.all(OF_RESELLER, { account });
}

/** The ids of keys that have expired and are not marked as ended. */
export function listExpiredKeys(reader: Reader, now: number): string[] {
  return reader.all(EXPIRED, { now }).map(({ id }) => id);
}
