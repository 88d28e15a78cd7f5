// Erasure of a user's personal data. Names, links, texts of orders, notes, labels and addresses are removed. Amounts,
// times, ids, services and quantities stay for the ledger. docs/specification/users.md#erasure.

import type { AuditAction, AuditFacts } from "../administrators/audit.ts";

/** Replaces erased names, links and facts of the audit log. Triggers in migrations/ expect this text. */
export const ERASED = "erased";

/** Facts of the audit log that identify a person or contain typed text. */
const PERSONAL: ReadonlySet<string> = new Set([
  "username",
  "name",
  "email",
  "newEmail",
  "note",
  "publicNote",
  "label",
  "allow",
  "url",
  "link",
  "reference",
  "address",
  "taxId",
]);

/** Returns the username after the erasure, which is unique because it contains the user's id. */
export function erasedUsername({ id }: { id: string }): string {
  return `${ERASED}-${id}`;
}

/** Replaces personal facts. With `parent`, the new username of an erased parent, it replaces only the fact `parent`. */
export function erasedFacts(facts: AuditFacts | null, parent?: string): AuditFacts | null {
  if (facts === null) return null;
  const keep = ([name, value]: [string, AuditFacts[string]]): [string, AuditFacts[string]] => {
    if (parent !== undefined) return [name, name === "parent" && value !== null ? parent : value];
    return [name, PERSONAL.has(name) && value !== null ? ERASED : value];
  };
  return Object.fromEntries(Object.entries(facts).map(keep));
}

/** Returns the new subject of an audit entry: `username` instead of the user's old name; ids and numbers stay. */
export function erasedSubject(action: AuditAction, subject: string, username: string): string {
  return action.startsWith("user.") ? username : subject;
}
