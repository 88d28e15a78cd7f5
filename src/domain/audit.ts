// The audit log: its actions, and what is recorded of a change: the fields that differ, before and after, so that a
// change that alters nothing leaves no entry. Never a secret. What the system actor does is in the order events.

export const AUDIT_ACTIONS = [
  "user.create",
  "user.update",
  "user.activate",
  "user.deactivate",
  "user.erase",
  "user.credit",
  "user.debit",
  "user.recharge",
  "user.discount",
  "key.create",
  "key.update",
  "key.rotate",
  "key.activate",
  "key.deactivate",
  "service.create",
  "service.update",
  "service.activate",
  "service.deactivate",
  "service.delete",
  "provider.create",
  "provider.update",
  "provider.activate",
  "provider.deactivate",
  "provider.delete",
  "grant.put",
  "grant.revoke",
  "route.put",
  "route.remove",
  "order.move",
  "order.progress",
  "webhook.create",
  "webhook.update",
  "webhook.delete",
  "webhook.enable",
  "webhook.disable",
  "webhook.rotate",
  "webhook.replay",
  "order.note",
  "request.approve",
  "request.decline",
  "request.complete",
  "order.late",
  "order.settle",
  "alert.create",
  "alert.delete",
  "administrator.invite",
  "administrator.accept",
  "administrator.password",
  "administrator.role",
  "administrator.second_factor",
  "administrator.revoke",
  "administrator.disable",
  "administrator.enable",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/**
 * Whether `name` is who made a change, where the log has `operator`: all of it, or one of the names in
 * `reseller (alice) as nightly-import`.
 */
export function isAuthor(operator: string, name: string): boolean {
  if (operator === name) return true;
  const [, user, login, as] = AUTHOR.exec(operator) ?? [];
  return [user, login, as].includes(name);
}

/** The operating system's user, who logged in, and the name of --as: cli/operator.ts. */
const AUTHOR = /^(.+?)(?: \((.+)\))?(?: as (\S+))?$/;

/** Names and values; amounts in micros have names that end in `Micros`, times in `At`. */
export type AuditFacts = Record<string, string | number | bigint | boolean | null>;

/** The fields that differ, with the values of each side; null when none does. */
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
