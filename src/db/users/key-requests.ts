// How many requests each key made on each UTC day, and how many of them got an error. Several servers add to a row.

import type { Reader, Tx } from "../port/port.ts";
import { query, statement } from "../port/query.ts";
import { number, numbers, text, texts } from "../port/table-definition.ts";
import { keyRequests } from "../tables/users.ts";
import { utcDayOf } from "../../domain/values/calendar.ts";

export interface KeyRequests {
  requests: number;
  errors: number;
}

const NO_REQUESTS: KeyRequests = { requests: 0, errors: 0 };

const ADD = statement({
  parameters: { counts: text, day: number },
  writes: [keyRequests],
  text: {
    sqlite: `INSERT INTO key_requests (key_id, day, requests, errors)
      SELECT keys.id, :day, value ->> 'requests', value ->> 'errors'
      FROM json_each(:counts) JOIN keys ON keys.id = value ->> 'id' WHERE TRUE
      ON CONFLICT (key_id, day) DO UPDATE SET requests = requests + excluded.requests, errors = errors + excluded.errors`,
    // Every server writes the keys in the same order, so that servers never wait for each other in a circle.
    postgres: `INSERT INTO key_requests AS counted (key_id, day, requests, errors)
      SELECT keys.id, :day, given.requests, given.errors
      FROM json_to_recordset(CAST(CAST(:counts AS text) AS json)) AS given (id text, requests bigint, errors bigint)
        JOIN keys ON keys.id = given.id ORDER BY keys.id
      ON CONFLICT (key_id, day) DO UPDATE SET requests = counted.requests + excluded.requests,
        errors = counted.errors + excluded.errors`,
  },
});

const DELETE_OLD = statement({
  parameters: { keyIds: texts, before: number },
  writes: [keyRequests],
  text: "DELETE FROM key_requests WHERE key_id IN (:keyIds) AND day < :before",
});

const sumOf = (column: string) => `CAST(coalesce(sum(${column}), 0) AS BIGINT)`;

const OF_KEYS = query({
  parameters: { keyIds: texts, from: number },
  columns: { keyId: text, requests: number, errors: number },
  text: `SELECT key_id AS "keyId", ${sumOf("requests")} AS "requests", ${sumOf("errors")} AS "errors"
    FROM key_requests WHERE key_id IN (:keyIds) AND day >= :from GROUP BY key_id`,
});

const OF_ACCOUNTS = query({
  parameters: { accounts: numbers, from: number },
  columns: { account: number, requests: number, errors: number },
  text: `SELECT keys.reseller_account AS "account", ${sumOf("requests")} AS "requests", ${sumOf("errors")} AS "errors"
    FROM keys JOIN key_requests ON key_requests.key_id = keys.id AND key_requests.day >= :from
    WHERE keys.reseller_account IN (:accounts) GROUP BY keys.reseller_account`,
});

/** Number of UTC days, including today, whose counts pages and lists show. */
const SHOWN_DAYS = 30;

/** Returns the first day whose counts are shown, in days since 1970. `now`: milliseconds since 1970. */
export function firstShownDay(now: number): number {
  return utcDayOf(now) - SHOWN_DAYS + 1;
}

/** Adds to the counts of a day. Skips keys that do not exist. */
export function addKeyRequests(
  tx: Tx,
  day: number,
  counts: readonly ({ id: string } & KeyRequests)[],
): void {
  tx.run(ADD, { counts: JSON.stringify(counts), day });
}

/** Deletes the counts of these keys from days before `before`. */
export function deleteKeyRequests(tx: Tx, keyIds: readonly string[], before: number): void {
  tx.run(DELETE_OLD, { keyIds, before });
}

/** Returns the counts of each of these keys since the day `from`. */
export function readKeyRequests(
  reader: Reader,
  keyIds: readonly string[],
  from: number,
): (keyId: string) => KeyRequests {
  const found = reader.all(OF_KEYS, { keyIds, from });
  const counts = new Map(found.map(({ keyId, ...each }) => [keyId, each]));
  return (keyId) => counts.get(keyId) ?? NO_REQUESTS;
}

/** Returns the counts of all keys of each of these accounts since the day `from`. Test keys have accounts of their own. */
export function readAccountRequests(
  reader: Reader,
  accounts: readonly number[],
  from: number,
): (account: number) => KeyRequests {
  const found = reader.all(OF_ACCOUNTS, { accounts, from });
  const counts = new Map(found.map(({ account, ...each }) => [account, each]));
  return (account) => counts.get(account) ?? NO_REQUESTS;
}
