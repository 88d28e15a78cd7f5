// The audit log: its actions, and the facts of each change: the fields that differ, before and after it. A change that
// alters nothing has no entry. Secrets are never recorded. Changes of orders that a server makes itself are in the
// order events.

import { administratorOf } from "./administrators.ts";

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
  "user.limits",
  "user.billing",
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
  "panel.import",
  "provider.create",
  "provider.update",
  "provider.activate",
  "provider.deactivate",
  "provider.delete",
  "provider.pause",
  "provider.resume",
  "category.order",
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
  "order.place",
  "order.link",
  "request.approve",
  "request.decline",
  "request.complete",
  "order.late",
  "order.settle",
  "alert.create",
  "alert.delete",
  "invoice.settings",
  "invoice.correct",
  "administrator.invite",
  "administrator.accept",
  "administrator.password",
  "administrator.role",
  "administrator.second_factor",
  "administrator.revoke",
  "administrator.disable",
  "administrator.enable",
  "user.portal",
  "member.invite",
  "member.accept",
  "member.register",
  "member.update",
  "member.reset",
  "member.password",
  "member.role",
  "member.second_factor",
  "member.revoke",
  "member.disable",
  "member.enable",
  "inspection.begin",
  "inspection.end",
  "registration.approve",
  "registration.decline",
  "mail.retry",
  "payment.approve",
  "payment.reject",
  "payment.refund",
  "payment.surplus",
  "payment_method.create",
  "payment_method.update",
  "payment_method.remove",
  "notice.add",
  "notice.remove",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The author of scheduled syncs. */
export const SCHEDULE_AUTHOR = "scheduled sync";

/**
 * Returns whether `name` is an author in the text `operator`: the whole text, or one of its names, such as alice in
 * `panel:alice` or `reseller (alice) as nightly-import`.
 */
export function isAuthor(operator: string, name: string): boolean {
  if (operator === name || administratorOf(operator) === name) return true;
  const [, user, login, as] = AUTHOR.exec(operator) ?? [];
  return [user, login, as].includes(name);
}

/** Matches the operating-system user, the login name and the name of --as (cli/kernel/operator.ts). */
const AUTHOR = /^(.+?)(?: \((.+)\))?(?: as (\S+))?$/;

/** Recorded values by name. Names of amounts in micros end in `Micros`, names of times in `At`. */
export type AuditFacts = Record<string, string | number | bigint | boolean | null>;

/** Returns the fields that differ, with both values; null when none differs. */
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
