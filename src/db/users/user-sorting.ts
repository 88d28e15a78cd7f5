// Users sorted by a column of the operator's list. Sorting reads all users that match: the newest ten thousand.

import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { givenNames, listByFilters } from "../port/filtered-lists.ts";
import type { Page } from "../port/pages.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { firstShownDay } from "./key-requests.ts";
import {
  type ListedUser,
  readListed,
  USER_CONDITIONS,
  USER_FILTERS,
  USER_PARAMETERS,
  type UserFilter,
  valuesOf,
} from "./user-lists.ts";

/** Limit for the users that are sorted. */
export const SORTED_LIMIT = 10_000;

export const USER_SORTS = [
  "username",
  "name",
  "kind",
  "balance",
  "spent",
  "orders",
  "last-order",
  "key-used",
  "errors",
] as const;
export type UserSort = (typeof USER_SORTS)[number];

export interface UserOrder {
  by: UserSort;
  descending: boolean;
}

/** The totals of the days that the list shows, by account. */
const TOTALS = `LEFT JOIN (SELECT key, sum(revenue_micros - refunds_micros) AS spent, sum(orders) AS orders
    FROM daily_totals WHERE kind = 'reseller' AND day >= :day GROUP BY key) AS totals
  ON totals.key = CAST(users.account AS TEXT)`;

const ERRORS = `LEFT JOIN (SELECT keys.reseller_account AS account, sum(key_requests.errors) AS errors
    FROM keys JOIN key_requests ON key_requests.key_id = keys.id AND key_requests.day >= :day
    GROUP BY keys.reseller_account) AS requests ON requests.account = users.account`;

const LAST_ORDER = `(SELECT max(last) FROM (${ORDER_STATUSES.map(
  (status) => `SELECT max(order_id) AS last FROM orders
    WHERE reseller_account = users.account AND status = '${status}'`,
).join(" UNION ALL ")}) AS of_statuses)`;

/** SQL for the value by which users are sorted, and for what it needs beside their rows. */
const KEYS: Record<UserSort, { key: string; join?: string }> = {
  username: { key: "lower(users.username)" },
  name: { key: "lower(users.name)" },
  // Resellers, then child users by their reseller.
  kind: {
    key: "coalesce((SELECT lower(parents.username) FROM users AS parents WHERE parents.account = users.parent_account), '')",
  },
  balance: { key: "users.balance_micros" },
  spent: { key: "coalesce(totals.spent, 0)", join: TOTALS },
  orders: { key: "coalesce(totals.orders, 0)", join: TOTALS },
  // Orders have their numbers in the order of time.
  "last-order": { key: `coalesce(${LAST_ORDER}, 0)` },
  "key-used": {
    key: "coalesce((SELECT max(last_used_at) FROM keys WHERE keys.reseller_account = users.account), 0)",
  },
  errors: { key: "coalesce(requests.errors, 0)", join: ERRORS },
};

const listBy = (by: UserSort, direction: "ASC" | "DESC") =>
  listByFilters({
    columns: { accounts: nullable(text) },
    parameters: { ...USER_PARAMETERS, first: number, day: number },
    conditions: USER_CONDITIONS,
    text: (and) => `SELECT string_agg(CAST(users.account AS TEXT), ','
        ORDER BY ${KEYS[by].key} ${direction}, users.account DESC) AS "accounts"
      FROM users LEFT JOIN user_contacts ON user_contacts.account = users.account ${KEYS[by].join ?? ""}
      WHERE users.account >= :first AND users.test_of IS NULL${and}`,
  });

const LISTS = new Map(
  USER_SORTS.map((by) => [by, { ascending: listBy(by, "ASC"), descending: listBy(by, "DESC") }]),
);

/** The first account of those that are sorted. Test accounts are users too. */
const FIRST = query({
  parameters: { limit: number },
  columns: { first: nullable(number), users: number },
  text: `SELECT min(account) AS "first", count(*) AS "users" FROM
    (SELECT account FROM users ORDER BY account DESC LIMIT :limit) AS newest`,
});

export interface SortedUsers extends Page<ListedUser> {
  /** Older users were left out. */
  isCut: boolean;
}

/** Lists the users after the account `after`. Equal users are sorted newest first. `now`: milliseconds since 1970. */
export function listSortedUsers(
  reader: Reader,
  filter: UserFilter,
  { by, descending }: UserOrder,
  after: number,
  limit: number,
  now: number,
): SortedUsers {
  const newest = reader.one(FIRST, { limit: SORTED_LIMIT })!;
  const list = LISTS.get(by)![descending ? "descending" : "ascending"];
  const values = { ...valuesOf(filter), first: newest.first ?? 0, day: firstShownDay(now) };
  const found = reader.one(list(givenNames(filter, USER_FILTERS)), values)?.accounts;
  const accounts = found ? found.split(",").map(Number) : [];
  const start = accounts.indexOf(after) + 1;
  const page = accounts.slice(start, start + limit);
  return {
    rows: readListed(reader, page),
    next: start + limit < accounts.length ? page.at(-1)! : null,
    isCut: newest.users === SORTED_LIMIT,
  };
}
