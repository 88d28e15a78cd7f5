// Members of all resellers for the operator, newest first.

import type { MemberRole } from "../../domain/members/members.ts";
import { contains, givenNames, listByFilters, lowerAscii } from "../port/filtered-lists.ts";
import type { Reader } from "../port/port.ts";
import { fields, selectAs } from "../port/query.ts";
import { boolean, number, text } from "../port/table-definition.ts";
import { members } from "../tables/members.ts";

/** Filters of the list. Absent or null means any value. */
export interface MemberFilter {
  /** A part of the name, the e-mail address or the reseller's username, ignoring the case of ASCII letters. */
  search?: string | null;
  role?: MemberRole | null;
  active?: boolean | null;
}

const FILTERS = ["search", "role", "active"] as const;

const NEWEST = listByFilters({
  columns: { ...fields(members), username: text },
  parameters: { limit: number, search: text, role: text, active: boolean },
  conditions: {
    search: (dialect) =>
      `(${["members.name", "members.email", "users.username"].map((column) => contains(column, ":search")(dialect)).join(" OR ")})`,
    role: "members.role = :role",
    active: "members.active = :active",
  },
  text: (and) => `SELECT ${selectAs(members, "members")}, users.username AS username
    FROM members JOIN users ON users.account = members.account
    WHERE users.erased_at IS NULL${and} ORDER BY members.created_at DESC, members.id LIMIT :limit`,
});

/** Lists the newest members of resellers that are not erased. */
export function listNewestMembers(reader: Reader, filter: MemberFilter, limit: number) {
  const list = NEWEST(givenNames(filter, FILTERS));
  return reader.all(list, { ...filter, search: lowerAscii(filter.search ?? ""), limit });
}
