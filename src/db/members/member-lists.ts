// Members of all resellers for the operator, newest first.

import type { MemberRole } from "../../domain/members/members.ts";
import { contains, givenNames, listByFilters, lowerAscii } from "../port/filtered-lists.ts";
import type { Reader } from "../port/port.ts";
import { fields, selectAs } from "../port/query.ts";
import { boolean, number, text } from "../port/table-definition.ts";
import { members } from "../tables/members.ts";

/** Limit for the members of one millisecond. */
const TIES_LIMIT = 1000;

/** Filters of the list. Absent or null means any value. */
export interface MemberFilter {
  /** A part of the name, the e-mail address or the reseller's username, ignoring the case of ASCII letters. */
  search?: string | null;
  role?: MemberRole | null;
  active?: boolean | null;
}

const FILTERS = ["search", "role", "active", "at"] as const;

const NEWEST = listByFilters({
  columns: { ...fields(members), username: text },
  parameters: {
    below: number,
    at: number,
    limit: number,
    search: text,
    role: text,
    active: boolean,
  },
  conditions: {
    search: (dialect) =>
      `(${["members.name", "members.email", "users.username"].map((column) => contains(column, ":search")(dialect)).join(" OR ")})`,
    role: "members.role = :role",
    active: "members.active = :active",
    at: "members.created_at = :at",
  },
  text: (and) => `SELECT ${selectAs(members, "members")}, users.username AS username
    FROM members JOIN users ON users.account = members.account
    WHERE members.created_at < :below AND users.erased_at IS NULL${and}
    ORDER BY members.created_at DESC, members.id LIMIT :limit`,
});

/**
 * Lists the newest members of resellers that are not erased, made before `below`. A page ends with all members of its
 * last millisecond, so it may have a few more than `limit`.
 */
export function listMembersBelow(
  reader: Reader,
  filter: MemberFilter,
  below: number,
  limit: number,
) {
  const search = lowerAscii(filter.search ?? "");
  const read = (range: { below: number; at: number | null; limit: number }) => {
    const asked = { ...filter, ...range, search };
    return reader.all(NEWEST(givenNames({ ...filter, at: range.at }, FILTERS)), asked);
  };
  const rows = read({ below, at: null, limit: limit + 1 });
  if (rows.length <= limit) return { rows, next: null };
  const { createdAt: last } = rows[limit - 1]!;
  const before = rows.filter(({ createdAt }) => createdAt > last);
  const ties = read({ below, at: last, limit: TIES_LIMIT });
  const hasMore = read({ below: last, at: null, limit: 1 }).length > 0;
  return { rows: [...before, ...ties], next: hasMore ? last : null };
}
