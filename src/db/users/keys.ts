// API keys, found by their hash. The text of a key is not stored.

import type { KeyReach, KeyType } from "../../domain/users/keys.ts";
import type { OwnLimits } from "../../domain/users/reseller-limits.ts";
import type { Reader } from "../port/port.ts";
import { givenNames, listByFilters } from "../port/filtered-lists.ts";
import { fields, query, select } from "../port/query.ts";
import { boolean, nullable, number, numbers, text } from "../port/table-definition.ts";
import { keys, users } from "../tables/users.ts";
import { findOwnLimits } from "./reseller-limits.ts";

/** The fields of a key that a request needs. */
export interface CallerKey {
  id: string;
  resellerAccount: number;
  type: KeyType;
  reach: KeyReach;
  active: boolean;
  /** Null: the key never expires. */
  expiresAt: number | null;
  /** Whether it was seen to expire. It stays expired even if the clock is set back. */
  ended: boolean;
  /** Networks in CIDR notation, separated by commas; empty: every address. */
  allow: string;
  /** For a test key, its reseller's live account; `resellerAccount` is then the test account. Null: a live key. */
  testOf: number | null;
}

/** The key of a request with its user's name and limits. */
export interface Caller extends CallerKey {
  /** The reseller's username, also for a test key. Used in the log. */
  username: string;
  /** The reseller's own limits; null: it has none, or this is a test key. */
  limits: OwnLimits | null;
}

export interface Key extends CallerKey {
  hash: string;
  start: string;
  label: string;
  /** The address of the use at `lastUsedAt`; null: unknown. */
  lastAddress: string | null;
  createdAt: number;
  /** Inactive because its user is. It becomes active again with the user. */
  suspended: boolean;
  /** Limit for one recharge; null: no limit. */
  rechargeLimitMicros: number | null;
  /** Limit for all recharges of a UTC day; null: no limit. */
  rechargeDailyMicros: number | null;
  /** The id of the first in the chain of keys that were rotated to this one; null: this is the first. */
  originId: string | null;
  /** On the latest day with a refused recharge, the time of the first one; null: none since the limits were changed. */
  rechargeRefusedAt: number | null;
  /** Whether it is a key of another panel, which should be rotated. */
  imported: boolean;
}

export interface ListedKey extends Key {
  lastUsedAt: number | null;
  /** The id of the key that it was rotated to. */
  replacedBy: string | null;
  /** The reseller's username, also for a test key. */
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

/** A query instead of a row look-up: it reads half of the columns, and every request needs it. */
const CALLER_BY_HASH = query({
  parameters: { hash: text },
  columns: { ...fields(keys, ...CALLER_FIELDS), username: text, limited: nullable(number) },
  // Not a join, because SQLite would read all users to find the one that coalesce() names.
  text: `SELECT ${select(keys, ...CALLER_FIELDS)}, (SELECT users.username FROM users
      WHERE users.account = coalesce(keys.test_of, keys.reseller_account)) AS username,
      (SELECT account FROM reseller_limits WHERE account = keys.reseller_account) AS "limited"
    FROM keys WHERE keys.hash = :hash`,
});

/** Filters of the list. Absent or null means any value. */
export interface KeyFilter {
  account?: number | null | undefined;
  type?: KeyType | null | undefined;
  /** Whether the key is active, expired or not. */
  active?: boolean | null | undefined;
  /** Whether it is a key of another panel. */
  imported?: boolean | null | undefined;
  /** When the key was created, both ends included, in milliseconds. */
  from?: number | null | undefined;
  to?: number | null | undefined;
}

const LIST = listByFilters({
  columns: { ...fields(keys), username: text },
  parameters: {
    account: number,
    type: text,
    active: boolean,
    imported: boolean,
    from: number,
    to: number,
    afterTime: number,
    after: text,
    limit: number,
  },
  conditions: {
    account: "users.account = :account",
    type: "keys.type = :type",
    active: "keys.active = :active",
    imported: "keys.imported = :imported",
    from: "keys.created_at >= :from",
    to: "keys.created_at <= :to",
    after: "(keys.created_at, keys.id) > (:afterTime, :after)",
  },
  text: (and) => `SELECT ${select(keys)}, users.username AS username
    FROM keys JOIN users ON users.account = coalesce(keys.test_of, keys.reseller_account)
    WHERE TRUE${and} ORDER BY keys.created_at, keys.id LIMIT :limit`,
});

/** Keys of these accounts that are in use, or that were deactivated or have expired, the newest first. */
const OF_ACCOUNTS = query({
  parameters: { accounts: numbers, usable: boolean, limit: number },
  columns: fields(keys),
  text: `SELECT ${select(keys)} FROM keys WHERE reseller_account IN (:accounts)
      AND (CASE WHEN active = 1 AND ended = 0 THEN 1 ELSE 0 END) = :usable
    ORDER BY created_at DESC, id DESC LIMIT :limit`,
});

const USABLE_OF_ACCOUNTS = query({
  parameters: { accounts: numbers },
  columns: { usable: number },
  text: `SELECT count(*) AS usable FROM keys
    WHERE reseller_account IN (:accounts) AND active = 1 AND ended = 0`,
});

const BY_START = query({
  parameters: { start: text, limit: number },
  columns: { ...fields(keys, "start", "label", "active"), username: text },
  text: `SELECT ${select(keys, "start", "label", "active")}, users.username AS username
    FROM keys JOIN users ON users.account = keys.reseller_account
    WHERE keys.start = :start AND keys.test_of IS NULL ORDER BY keys.created_at, keys.id LIMIT :limit`,
});

const EXPIRED = query({
  parameters: { now: number },
  columns: fields(keys, "id"),
  text: `SELECT ${select(keys, "id")} FROM keys WHERE expires_at <= :now AND ended = 0`,
});

const USABLE = query({
  parameters: { now: number },
  columns: { usable: number },
  text: `SELECT count(*) AS usable FROM keys
    WHERE active = 1 AND ended = 0 AND (expires_at IS NULL OR expires_at > :now)`,
});

/** SQL for the number of keys that can add credit. Counts expired keys until they are marked as ended. */
export const CREDIT_KEYS = `SELECT count(*) FROM keys
  WHERE type <> 'order' AND test_of IS NULL AND active = 1 AND ended = 0`;

/** SQL for the number of these keys that can add credit to any user without a daily limit. */
export const UNLIMITED_CREDIT_KEYS = `${CREDIT_KEYS} AND reach = 'all' AND recharge_daily_micros IS NULL`;

export function countUsableKeys(reader: Reader, now: number): number {
  return reader.one(USABLE, { now })!.usable;
}

/** Counts keys of these accounts as in use until they are marked as ended. */
export function countUsableKeysOf(reader: Reader, accounts: readonly number[]): number {
  return reader.one(USABLE_OF_ACCOUNTS, { accounts })!.usable;
}

/** Lists keys of these accounts that are in use, or those that are not, the newest first. */
export function listKeysOf(
  reader: Reader,
  accounts: readonly number[],
  usable: boolean,
  limit: number,
) {
  return reader.all(OF_ACCOUNTS, { accounts, usable, limit });
}

/** Finds the key of a request. Servers keep the result in memory; commands look up the key's row instead. */
export function findCallerKeyByHash(reader: Reader, hash: string): Caller | undefined {
  const row = reader.one(CALLER_BY_HASH, { hash });
  if (!row) return undefined;
  // Few resellers have limits, and reading their columns for every key would cost more than this second look-up.
  const { limited, ...key } = row;
  return { ...key, limits: limited === null ? null : findOwnLimits(reader, limited) };
}

export function findKey(reader: Reader, id: string): ListedKey | undefined {
  const key = reader.row(keys.byKey, id);
  if (!key) return undefined;
  const { username } = reader.row(users.byKey, key.testOf ?? key.resellerAccount)!;
  return { ...key, username };
}

/** Lists keys after the key `after` (null: from the first), oldest first, including test keys. */
export function listKeys(
  reader: Reader,
  filter: KeyFilter = {},
  after: string | null = null,
  limit = Number.MAX_SAFE_INTEGER,
): ListedKey[] {
  const last = after === null ? undefined : reader.row(keys.byKey, after);
  const values = { ...filter, afterTime: last?.createdAt ?? 0, after: last?.id, limit };
  return reader.all(
    LIST(givenNames(values, ["account", "type", "active", "imported", "from", "to", "after"])),
    values,
  );
}

/** Lists the live keys that begin with these characters, which startOfKey returns. Reads all keys. */
export function listKeysByStart(reader: Reader, start: string, limit: number) {
  return reader.all(BY_START, { start, limit });
}

/** Returns the ids of keys that have expired but are not yet marked as ended. */
export function listExpiredKeys(reader: Reader, now: number): string[] {
  return reader.all(EXPIRED, { now }).map(({ id }) => id);
}
