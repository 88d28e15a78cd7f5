// The audit log's words: what can be changed, and what of a change is recorded: only what differs, before and after, so
// that a change of nothing leaves no row. Never a secret. What the service does by itself is in the order events.

export const AUDIT_ACTIONS = [
  "user.create",
  "user.credit",
  "user.debit",
  "user.recharge",
  "key.create",
  "key.rotate",
  "key.activate",
  "key.deactivate",
  "service.create",
  "service.update",
  "service.activate",
  "service.deactivate",
  "provider.create",
  "grant.put",
  "grant.revoke",
  "order.move",
  "order.progress",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Names and values; amounts in micros have names that end in `Micros`, times in `At`. */
export type AuditFacts = Record<string, string | number | bigint | boolean | null>;

/** What differs between the two, each side with its own values; null when nothing does. */
export function diffFacts(
  before: AuditFacts | null,
  after: AuditFacts | null,
): { before: AuditFacts | null; after: AuditFacts | null } | null {
  if (before === null || after === null) return before === after ? null : { before, after };
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
  if (names.length === 0) return null;
  const pick = (facts: AuditFacts) =>
    Object.fromEntries(names.filter((name) => name in facts).map((name) => [name, facts[name]!]));
  return { before: pick(before), after: pick(after) };
}
