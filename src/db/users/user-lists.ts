// Users for the operator, newest or oldest first, in pages. A page costs the same at any number of users. With a
// filter, a bounded number of accounts is examined, and `next` is where the following page continues.

import { contains, givenNames, listByFilters, lowerAscii } from "../port/filtered-lists.ts";
import type { Page } from "../port/pages.ts";
import type { Reader } from "../port/port.ts";
import { type Dialect, fields, query, selectAs } from "../port/query.ts";
import { boolean, nullable, number, numbers, text } from "../port/table-definition.ts";
import { users } from "../tables/users.ts";
import type { User } from "./users.ts";

/** Limit for accounts examined for a page with filters, which takes 5 ms. */
const EXAMINED_LIMIT = 10_000;

/** Filters of the list. Absent or null means any value. */
export interface UserFilter {
  /** A part of the username, the name or the e-mail address, ignoring the case of ASCII letters. */
  search?: string | null | undefined;
  /** The reseller whose child users are listed. */
  parentAccount?: number | null | undefined;
  /** Whether the user has a parent. */
  isChild?: boolean | null | undefined;
  active?: boolean | null | undefined;
  /** When the user was created, both ends included, in milliseconds. */
  from?: number | null | undefined;
  to?: number | null | undefined;
}

export interface ListedUser extends User {
  /** The username of a child user's reseller. */
  parent: string | null;
  email: string | null;
}

export const USER_FILTERS = ["search", "parentAccount", "isChild", "active", "from", "to"] as const;

const ENDS = query({
  columns: { newest: nullable(number) },
  text: "SELECT max(account) AS newest FROM users",
});

export const USER_PARAMETERS = {
  search: text,
  parentAccount: number,
  isChild: boolean,
  active: boolean,
  from: number,
  to: number,
};

export const USER_CONDITIONS = {
  search: (dialect: Dialect) =>
    `(${["users.username", "users.name", "coalesce(user_contacts.email, '')"].map((column) => contains(column, ":search")(dialect)).join(" OR ")})`,
  parentAccount: "users.parent_account = :parentAccount",
  isChild: "CASE WHEN users.parent_account IS NULL THEN 0 ELSE 1 END = :isChild",
  active: "users.active = :active",
  from: "users.created_at >= :from",
  to: "users.created_at <= :to",
};

const COLUMNS = {
  ...fields(users),
  resellerId: nullable(text),
  parent: nullable(text),
  email: nullable(text),
};

const ROWS = `SELECT ${selectAs(users, "users")}, parents.id AS "resellerId", parents.username AS "parent", user_contacts.email AS "email"
  FROM users LEFT JOIN users AS parents ON parents.account = users.parent_account
    LEFT JOIN user_contacts ON user_contacts.account = users.account`;

const listIn = (order: "ASC" | "DESC") =>
  listByFilters({
    columns: COLUMNS,
    parameters: { first: number, last: number, limit: number, ...USER_PARAMETERS },
    conditions: USER_CONDITIONS,
    text: (and) => `${ROWS}
      WHERE users.account BETWEEN :first AND :last AND users.test_of IS NULL${and} ORDER BY users.account ${order} LIMIT :limit`,
  });

const BY_ACCOUNTS = query({
  parameters: { accounts: numbers },
  columns: COLUMNS,
  text: `${ROWS} WHERE users.account IN (:accounts)`,
});

const LISTS = { newestFirst: listIn("DESC"), oldestFirst: listIn("ASC") };

/**
 * Lists the newest users with accounts lower than `below`. A page may have fewer than `limit` although more follow:
 * only a null `next` means the end of the list.
 */
export function listUsersBelow(
  reader: Reader,
  filter: UserFilter,
  below: number,
  limit: number,
): Page<ListedUser> {
  const newest = reader.one(ENDS)!.newest ?? 0;
  const last = Math.min(newest, below - 1);
  const first = isFiltered(filter) ? Math.max(last - EXAMINED_LIMIT + 1, 1) : 1;
  const rows = read(reader, "newestFirst", filter, { first, last, limit: limit + 1 });
  return pageOf(rows, limit, first === 1 ? null : first);
}

/** Like listUsersBelow, but oldest first, with accounts higher than `after`. */
export function listUsersAfter(
  reader: Reader,
  filter: UserFilter,
  after: number,
  limit: number,
): Page<ListedUser> {
  const newest = reader.one(ENDS)!.newest ?? 0;
  const first = after + 1;
  const last = isFiltered(filter) ? Math.min(after + EXAMINED_LIMIT, newest) : newest;
  const rows = read(reader, "oldestFirst", filter, { first, last, limit: limit + 1 });
  return pageOf(rows, limit, last === newest ? null : last);
}

function isFiltered(filter: UserFilter): boolean {
  return givenNames(filter, USER_FILTERS).length > 0;
}

function read(
  reader: Reader,
  order: keyof typeof LISTS,
  filter: UserFilter,
  range: { first: number; last: number; limit: number },
): ListedUser[] {
  const list = LISTS[order](givenNames(filter, USER_FILTERS));
  return reader.all(list, { ...valuesOf(filter), ...range });
}

/** Returns the values of USER_PARAMETERS. */
export function valuesOf(filter: UserFilter) {
  return { ...filter, search: lowerAscii(filter.search ?? "") };
}

/** Reads the users with these accounts, in their order. */
export function readListed(reader: Reader, accounts: readonly number[]): ListedUser[] {
  const rows = new Map(reader.all(BY_ACCOUNTS, { accounts }).map((row) => [row.account, row]));
  return accounts.flatMap((account) => rows.get(account) ?? []);
}

/** Makes a page. One row more than `limit` means that more rows follow. `next`: where an incomplete page continues. */
function pageOf(rows: ListedUser[], limit: number, next: number | null): Page<ListedUser> {
  if (rows.length <= limit) return { rows, next };
  return { rows: rows.slice(0, limit), next: rows[limit - 1]!.account };
}
