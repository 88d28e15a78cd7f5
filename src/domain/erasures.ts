// What is left of a user whose personal data was erased: amounts, times, ids, services and quantities stay for the ledger;
// names, links, texts of orders, notes, labels and addresses go. docs/specification.md#erasure.

import type { AuditAction, AuditFacts } from "./audit.ts";

/** Stands where a name, a link or a fact of the audit log was. Triggers know it: migrations/. */
export const ERASED = "erased";

/** Facts of the audit log that say who somebody is, or that somebody typed. Services have names, too, but no account. */
const PERSONAL: ReadonlySet<string> = new Set([
  "username",
  "name",
  "note",
  "publicNote",
  "label",
  "allow",
  "url",
  "link",
  "reference",
]);

/** What the user is called from then on: of its id, so that nobody else has it. */
export function erasedUsername({ id }: { id: string }): string {
  return `${ERASED}-${id}`;
}

/** The facts without what is personal. `parent`: what a parent that was erased is called now. */
export function erasedFacts(facts: AuditFacts | null, parent?: string): AuditFacts | null {
  if (facts === null) return null;
  const keep = ([name, value]: [string, AuditFacts[string]]): [string, AuditFacts[string]] => {
    if (parent !== undefined) return [name, name === "parent" && value !== null ? parent : value];
    return [name, PERSONAL.has(name) && value !== null ? ERASED : value];
  };
  return Object.fromEntries(Object.entries(facts).map(keep));
}

/** What an audit entry of the user is about: its name, or an id or a number, which stay. */
export function erasedSubject(action: AuditAction, subject: string, username: string): string {
  return action.startsWith("user.") ? username : subject;
}
