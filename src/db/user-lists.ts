// Users for the operator, newest first, in pages. A page costs the same at any number of users: with a filter a bounded
// number of accounts is examined, and `next` tells where the following page continues.

import { contains, givenOf, listByFilters, lowerAscii } from "./filtered-lists.ts";
import type { Page } from "./pages.ts";
import type { Reader } from "./port.ts";
import { fields, query, selectAs } from "./query.ts";
import { boolean, nullable, number, text } from "./table-definition.ts";
import { users } from "./tables.ts";
import type { User } from "./users.ts";

/** Accounts that are examined for a page with filters: 5 ms. */
const EXAMINED_LIMIT = 10_000;

/** Absent or null: any. */
export interface UserFilter {
  /** A part of the username or of the name; the case of ASCII letters does not count. */
  search?: string | null | undefined;
  /** The reseller whose child users are listed. */
  parentAccount?: number | null | undefined;
  /** Whether they have a parent. */
  isChild?: boolean | null | undefined;
  active?: boolean | null | undefined;
}

const FILTERS = ["search", "parentAccount", "isChild", "active"] as const;

const NEWEST = query({
  takes: { below: number },
  gives: { account: nullable(number) },
  text: "SELECT max(account) AS account FROM users WHERE account < :below",
});

const LIST = listByFilters({
  gives: { ...fields(users), resellerId: nullable(text) },
  parameters: {
    first: number,
    last: number,
    limit: number,
    search: text,
    parentAccount: number,
    isChild: boolean,
    active: boolean,
  },
  conditions: {
    search: (dialect) =>
      `(${contains("users.username", ":search")(dialect)} OR ${contains("users.name", ":search")(dialect)})`,
    parentAccount: "users.parent_account = :parentAccount",
    isChild: "CASE WHEN users.parent_account IS NULL THEN 0 ELSE 1 END = :isChild",
    active: "users.active = :active",
  },
  text: (and) => `SELECT ${selectAs(users, "users")}, parents.id AS "resellerId"
    FROM users LEFT JOIN users AS parents ON parents.account = users.parent_account
    WHERE users.account BETWEEN :first AND :last${and} ORDER BY users.account DESC LIMIT :limit`,
});

/** The newest users with accounts below `below`. A page may have fewer than `limit`: only a null `next` means the end. */
export function listUsersBelow(
  reader: Reader,
  filter: UserFilter,
  below: number,
  limit: number,
): Page<User> {
  const last = reader.one(NEWEST, { below })!.account;
  if (last === null) return { rows: [], next: null };
  const given = givenOf(filter, FILTERS);
  const first = given.length === 0 ? 1 : Math.max(last - EXAMINED_LIMIT + 1, 1);
  const search = lowerAscii(filter.search ?? "");
  const rows = reader.all(LIST(given), { ...filter, search, first, last, limit: limit + 1 });
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]!.account };
  return { rows, next: first === 1 ? null : first };
}
