// Payment methods: created, changed and removed by the operator. Their secrets are stored, and never audited.

import {
  countFollowedOfMethod,
  countOpenOfMethod,
  findMethod,
  listMethodResellers,
  listMethods,
} from "../../db/payments/payment-methods.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { findUser } from "../../db/users/users.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import {
  type PaymentMethodRow,
  paymentMethodResellers,
  paymentMethods,
} from "../../db/tables/payments.ts";
import type { AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { AMOUNT_LIMIT_MICROS } from "../../domain/ledger/money.ts";
import { toUsdMicros, unitMicrosOf } from "../../domain/payments/currencies.ts";
import {
  METHOD_RESELLERS_LIMIT,
  METHODS_LIMIT,
  type SettingFacts,
} from "../../domain/payments/payment-methods.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { requireRole } from "../administrators/acting.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

/** What the operator sets. Texts, steps and settings as JSON. */
export type MethodTerms = Omit<
  PaymentMethodRow,
  "methodId" | "kind" | "currency" | "resellers" | "createdAt" | "removedAt" | "noticedAt"
>;

export interface CreatePaymentMethod {
  methodId: string;
  kind: string;
  currency: string;
  terms: MethodTerms;
  /** The settings of the kind. */
  known: readonly SettingFacts[];
  /** The usernames of the only resellers that may use it; null: all may. */
  resellers: readonly string[] | null;
  actor: Actor;
}

/**
 * Creates a method. An id is used once. Refuses: payment_method_taken, payment_methods_limit, payment_method_limits,
 * payment_method_rate, payment_method_incomplete, payment_method_reseller, payment_method_resellers_limit.
 */
export function createPaymentMethod(
  tx: Tx,
  command: CreatePaymentMethod,
  context: Context,
): { methodId: string } {
  const { methodId, kind, currency, terms, known, actor } = command;
  requireRole(tx, actor, "owner", "change ways to pay");
  tx.lock(CATALOGUE_LOCK);
  if (tx.row(paymentMethods.byKey, methodId)) throw refusal("payment_method_taken");
  if (listMethods(tx).length >= METHODS_LIMIT) {
    throw new Refusal("payment_methods_limit", { limit: METHODS_LIMIT });
  }
  refuseWrongLimits(terms, currency);
  refuseIncomplete(terms, known);
  const accounts = command.resellers && accountsOf(tx, command.resellers);
  // Nothing is refused from here on.
  const method = tx.insert(paymentMethods, {
    ...terms,
    methodId,
    kind,
    currency,
    resellers: accounts === null ? "all" : "listed",
    createdAt: context.now,
    removedAt: null,
    noticedAt: null,
  });
  for (const account of accounts ?? []) tx.insert(paymentMethodResellers, { methodId, account });
  const facts = { ...factsOf(method, command.resellers), ...settingsShown(method, null, known) };
  auditMethod(tx, context, actor, methodId, null, facts);
  return { methodId };
}

export interface UpdatePaymentMethod {
  methodId: string;
  /** Absent: unchanged. `settings`: only those that change. */
  changes: Partial<MethodTerms>;
  /** The settings of the kind. */
  known: readonly SettingFacts[];
  /** Null: all may use it; absent: unchanged. */
  resellers?: readonly string[] | null;
  actor: Actor;
}

/** Changes a method. Payments keep the terms under which they were asked for. Refuses what createPaymentMethod refuses. */
export function updatePaymentMethod(
  tx: Tx,
  command: UpdatePaymentMethod,
  context: Context,
): { methodId: string } {
  const { methodId, changes, known, actor } = command;
  requireRole(tx, actor, "owner", "change ways to pay");
  tx.lock(CATALOGUE_LOCK);
  const before = requireMethod(tx, methodId);
  const settings = changes.settings && mergedSettings(before.settings, changes.settings);
  const wanted = { ...changes, ...(settings === undefined ? {} : { settings }) };
  refuseWrongLimits({ ...before, ...wanted }, before.currency);
  refuseIncomplete({ ...before, ...wanted }, known);
  const named = listMethodResellers(tx, methodId);
  const namedBefore = before.resellers === "all" ? null : named.map(({ username }) => username);
  const namedAfter = command.resellers === undefined ? namedBefore : command.resellers;
  const accounts = command.resellers ? accountsOf(tx, command.resellers) : [];
  // Nothing is refused from here on.
  const resellers = namedAfter === null ? ("all" as const) : ("listed" as const);
  const isNewSecret = known.some(
    ({ name, isSecret }) => isSecret && settingOf(before, name) !== settingOf(wanted, name, before),
  );
  const after = tx.update(paymentMethods, before, {
    ...wanted,
    resellers,
    // A notice with the new secret has not arrived yet.
    ...(isNewSecret && { noticedAt: null }),
  });
  if (command.resellers !== undefined) {
    for (const { account } of named) tx.delete(paymentMethodResellers, { methodId, account });
    for (const account of accounts) tx.insert(paymentMethodResellers, { methodId, account });
  }
  const facts = { ...factsOf(after, namedAfter), ...settingsShown(after, before, known) };
  const earlier = { ...factsOf(before, namedBefore), ...settingsShown(before, before, known) };
  auditMethod(tx, context, actor, methodId, earlier, facts);
  return { methodId };
}

export interface RemovePaymentMethod {
  methodId: string;
  /** Whether its ended payments need not be read any more: their late money, refunds and disputes are not seen then. */
  unread: boolean;
  actor: Actor;
}

/**
 * Removes a method with its secrets. Its payments stay. Refuses: payment_method_not_found, payment_method_in_use,
 * payment_method_followed.
 */
export function removePaymentMethod(
  tx: Tx,
  { methodId, unread, actor }: RemovePaymentMethod,
  context: Context,
): null {
  requireRole(tx, actor, "owner", "change ways to pay");
  tx.lock(CATALOGUE_LOCK);
  const method = requireMethod(tx, methodId);
  if (countOpenOfMethod(tx, methodId) > 0) throw refusal("payment_method_in_use");
  const followed = countFollowedOfMethod(tx, methodId);
  if (followed > 0 && !unread) throw new Refusal("payment_method_followed", { payments: followed });
  // Nothing is refused from here on.
  tx.update(paymentMethods, method, { active: false, settings: "{}", removedAt: context.now });
  auditMethod(tx, context, actor, methodId, factsOf(method, null), null);
  return null;
}

export interface RecordNotice {
  methodId: string;
  /** The settings by which the notice was found genuine. */
  settings: string;
}

/** Notes that the first genuine notice has arrived, unless the method's settings have changed since. */
export function recordNotice(tx: Tx, { methodId, settings }: RecordNotice, { now }: Context): null {
  tx.lock(CATALOGUE_LOCK);
  const method = findMethod(tx, methodId);
  if (method?.noticedAt !== null || method.settings !== settings) return null;
  tx.update(paymentMethods, method, { noticedAt: now });
  return null;
}

/** Refuses: payment_method_not_found. */
export function requireMethod(reader: Reader, methodId: string): PaymentMethodRow {
  const found = findMethod(reader, methodId);
  if (!found) throw refusal("payment_method_not_found");
  return found;
}

/** Refuses amounts that could not be paid or credited. Refuses: payment_method_limits, payment_method_rate. */
function refuseWrongLimits(terms: MethodTerms, currency: string): void {
  const { minMicros, maxMicros, rateToUsd } = terms;
  const unit = unitMicrosOf(currency);
  const isWhole = minMicros % unit === 0 && maxMicros % unit === 0;
  const isCreditable = toUsdMicros(maxMicros, rateToUsd) <= AMOUNT_LIMIT_MICROS;
  if (!isWhole || minMicros > maxMicros || !isCreditable) throw refusal("payment_method_limits");
  if (currency === "USD" && rateToUsd !== "1") throw refusal("payment_method_rate");
}

/** Refuses a method that would be offered although it cannot work. Refuses: payment_method_incomplete. */
function refuseIncomplete(method: MethodTerms, known: readonly SettingFacts[]): void {
  if (!method.active) return;
  const missing = known.find(
    ({ name, isRequired }) => isRequired && settingOf(method, name) === undefined,
  );
  if (missing) throw new Refusal("payment_method_incomplete", { missing: missing.name });
}

function settingOf(
  { settings }: Partial<MethodTerms>,
  name: string,
  otherwise?: MethodTerms,
): string | undefined {
  const stored = settings ?? otherwise?.settings ?? "{}";
  return (JSON.parse(stored) as Record<string, string | undefined>)[name];
}

/** Returns what the audit log records of settings: the value of those that are not secret, and that a secret was changed. */
function settingsShown(
  method: MethodTerms,
  before: MethodTerms | null,
  known: readonly SettingFacts[],
): AuditFacts {
  const facts: Record<string, string | null> = {};
  for (const { name, isSecret } of known) {
    const value = settingOf(method, name) ?? null;
    if (!isSecret) facts[name] = value;
    else if (value !== (before && (settingOf(before, name) ?? null)))
      facts[name] = before ? "changed" : "set";
  }
  return facts;
}

/** Returns the settings after changes. An empty value removes one. */
function mergedSettings(before: string, changes: string): string {
  const merged = { ...(JSON.parse(before) as object), ...(JSON.parse(changes) as object) };
  const left = Object.entries(merged).filter(([, value]) => value !== "");
  return JSON.stringify(Object.fromEntries(left));
}

/** Returns the accounts of resellers. Refuses: payment_method_reseller, payment_method_resellers_limit. */
function accountsOf(tx: Tx, usernames: readonly string[]): number[] {
  const limit = METHOD_RESELLERS_LIMIT;
  if (usernames.length === 0 || usernames.length > limit) {
    throw new Refusal("payment_method_resellers_limit", { limit });
  }
  const accounts = tx.each(usernames, (username) => {
    const user = findUser(tx, username);
    // A child user has no members.
    if (user?.parentAccount !== null) throw new Refusal("payment_method_reseller", { username });
    return user.account;
  });
  return [...new Set(accounts)];
}

/** Returns the fields of a method that the audit log records: no settings. */
function factsOf(method: PaymentMethodRow, resellers: readonly string[] | null): AuditFacts {
  const { kind, names, instructions, minMicros, maxMicros, feePpm, feeFixedMicros } = method;
  const { feePayer, bonusSteps, currency, rateToUsd, active } = method;
  const texts = { kind, names, instructions, currency, rateToUsd };
  const fee = { feePpm, feeFixedMicros, feePayer, bonusSteps };
  const who = resellers === null ? "all" : resellers.toSorted().join(", ");
  return { ...texts, minMicros, maxMicros, ...fee, active, resellers: who };
}

function auditMethod(
  tx: Tx,
  context: Context,
  actor: Actor,
  subject: string,
  before: AuditFacts | null,
  after: AuditFacts | null,
): void {
  const act = before === null ? "create" : after === null ? "remove" : "update";
  const change = { actor, action: `payment_method.${act}` as const, subject, account: null };
  audit(tx, context, { ...change, before, after });
}
