// API keys: creation, activation, rotation, expiry and last use.

import type { AuditAction, AuditFacts } from "../domain/audit.ts";
import { refusal } from "../domain/refusals.ts";
import {
  isKeyExpired,
  KEY_USE_INTERVAL_MS,
  type KeyScope,
  type KeyType,
  shownStart,
} from "../domain/keys.ts";
import type { Actor } from "../domain/ledger.ts";
import type { Tx } from "../db/port.ts";
import { findKey, type Key, listExpiredKeys, listKeys, type ListedKey } from "../db/keys.ts";
import { keys, users } from "../db/tables.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";
import { lockSides, openTestAccount } from "./test-accounts.ts";
import { requireUser } from "./users.ts";

export interface CreateKey {
  username: string;
  type: KeyType;
  reach: KeyScope;
  label: string;
  /** SHA-256 of the key. Its text never enters a command. */
  hash: string;
  start: string;
  /** Above 0; null: it does not expire. */
  lifetimeMilliseconds?: number | null;
  /** Networks in CIDR notation, separated by commas; empty: every address. */
  allow?: string;
  /** A test key: it belongs to the reseller's test account, which the first one makes. */
  test?: boolean;
  actor: Actor;
}

/** Refuses: user_not_found, child_cannot_hold_key, user_inactive. */
export function createKey(tx: Tx, command: CreateKey, context: Context): ListedKey {
  const user = requireUser(tx, command.username);
  if (user.parentAccount !== null) throw refusal("child_cannot_hold_key");
  if (!user.active) throw refusal("user_inactive");
  const lifetime = command.lifetimeMilliseconds ?? null;
  const isTest = command.test ?? false;
  const key = tx.insert(keys, {
    id: context.createId(),
    resellerAccount: isTest ? openTestAccount(tx, user, command.actor, context) : user.account,
    testOf: isTest ? user.account : null,
    hash: command.hash,
    start: command.start,
    type: command.type,
    reach: command.reach,
    label: command.label,
    active: true,
    createdAt: context.now,
    expiresAt: lifetime === null ? null : context.now + lifetime,
    ended: false,
    allow: command.allow ?? "",
  });
  auditKey(tx, context, command.actor, "key.create", null, key);
  return { ...key, username: user.username };
}

export interface SetKeyActive {
  id: string;
  active: boolean;
  actor: Actor;
}

/**
 * A running server refuses a deactivated key on its next request. An activated key expires by its expiresAt again.
 * One that is deactivated by itself stays so when its user is activated. Refuses: key_not_found, user_inactive.
 */
export function setKeyActive(tx: Tx, command: SetKeyActive, context: Context): ListedKey {
  const key = requireKey(tx, command.id);
  const { active } = command;
  const owner = tx.row(users.byKey, key.testOf ?? key.resellerAccount)!;
  if (active && !owner.active) throw refusal("user_inactive");
  const changes = { active, ended: key.ended && !active, suspended: false };
  tx.update(keys, key, changes);
  const changed = { ...key, ...changes };
  const action = active ? "key.activate" : "key.deactivate";
  auditKey(tx, context, command.actor, action, key, changed);
  return changed;
}

export interface UpdateKey {
  id: string;
  /** Absent: as it was. Lifetime in milliseconds from now on; null: it does not expire. */
  changes: { label?: string; lifetimeMilliseconds?: number | null; allow?: string };
  actor: Actor;
}

/**
 * A running server goes by it on the key's next request. A key that has expired lives on with a new lifetime; a rotated one
 * ends when it was to end. Refuses: key_not_found, key_replaced, user_erased.
 */
export function updateKey(tx: Tx, command: UpdateKey, context: Context): ListedKey {
  const { now } = context;
  const key = requireKey(tx, command.id);
  const { label = key.label, allow = key.allow, lifetimeMilliseconds: lifetime } = command.changes;
  if (lifetime !== undefined && key.replacedBy !== null) throw refusal("key_replaced");
  const owner = tx.row(users.byKey, key.testOf ?? key.resellerAccount)!;
  if (owner.erasedAt !== null) throw refusal("user_erased");
  const expiry = lifetime === null ? null : now + (lifetime ?? 0);
  const expiresAt = lifetime === undefined ? key.expiresAt : expiry;
  const changes = { label, allow, expiresAt, ended: key.ended && lifetime === undefined };
  tx.update(keys, key, changes);
  const changed = { ...key, ...changes };
  auditKey(tx, context, command.actor, "key.update", key, changed);
  return changed;
}

export interface DeactivateKeys {
  username: string;
  actor: Actor;
}

/** All of a reseller's, test keys too. Returns how many were active. Refuses: user_not_found, child_has_no_keys. */
export function deactivateKeys(
  tx: Tx,
  command: DeactivateKeys,
  context: Context,
): { keys: number } {
  const { account, parentAccount } = requireUser(tx, command.username);
  if (parentAccount !== null) throw refusal("child_has_no_keys");
  lockSides(tx, account);
  const active = listKeys(tx, { account }).filter((key) => key.active || key.suspended);
  tx.each(active, (key) => {
    const changes = { active: false, suspended: false };
    tx.update(keys, key, changes);
    auditKey(tx, context, command.actor, "key.deactivate", key, { ...key, ...changes });
  });
  return { keys: active.length };
}

export interface RotateKey {
  id: string;
  /** Of the new key, which is a test key if the old one is. */
  hash: string;
  start: string;
  /** How long the old key stays valid beside the new one, unless it expires sooner; 0: it ends at once. */
  graceMilliseconds: number;
  actor: Actor;
}

/**
 * Creates a key with the same terms and as long a lifetime, and ends the old one after the grace period.
 * Refuses: key_not_found, api_key_inactive, api_key_expired, key_replaced.
 */
export function rotateKey(tx: Tx, command: RotateKey, context: Context): ListedKey {
  const { now } = context;
  const old = requireKey(tx, command.id);
  if (!old.active) throw refusal("api_key_inactive");
  // Before the check for expiry: rotation itself has set the expiry of a replaced key.
  if (old.replacedBy !== null) throw refusal("key_replaced");
  if (isKeyExpired(old, now)) throw refusal("api_key_expired");
  const { actor, hash, start } = command;
  const replacement = createKey(
    tx,
    {
      ...old,
      hash,
      start,
      actor,
      test: old.testOf !== null,
      lifetimeMilliseconds: old.expiresAt === null ? null : old.expiresAt - old.createdAt,
    },
    context,
  );
  const graceEnds = now + command.graceMilliseconds;
  const expiresAt = Math.min(old.expiresAt ?? graceEnds, graceEnds);
  const ended = expiresAt <= now;
  tx.update(keys, old, { replacedBy: replacement.id, expiresAt, ended });
  auditKey(tx, context, actor, "key.rotate", old, {
    ...old,
    expiresAt,
    replacedBy: replacement.id,
  });
  return replacement;
}

/**
 * Marks expired keys as ended, so that they stay so if the clock is put back; the caller makes sure that the clock can
 * be trusted. No audit entry: they are refused already. Returns their ids.
 */
export function endExpiredKeys(tx: Tx, _command: null, context: Context): string[] {
  const expired = listExpiredKeys(tx, context.now);
  tx.each(expired, (id) => tx.update(keys, { id }, { ended: true }));
  return expired;
}

export interface RecordKeyUsage {
  uses: { id: string; usedAt: number; address?: string }[];
}

/** Records when keys were last used, and from where, at most once a minute for each key. */
export function recordKeyUsage(tx: Tx, { uses }: RecordKeyUsage): number {
  tx.each(uses, ({ id, usedAt, address }) => {
    const key = tx.row(keys.byKey, id);
    // The interval is kept here too, so that no caller can write more often.
    if (!key || !isDue(key.lastUsedAt, usedAt)) return;
    const { erasedAt } = tx.row(users.byKey, key.testOf ?? key.resellerAccount)!;
    const lastAddress = erasedAt === null ? (address ?? key.lastAddress) : null;
    tx.update(keys, key, { lastUsedAt: usedAt, lastAddress });
  });
  return uses.length;
}

/** In both directions: a time written while the clock was ahead must not stay for years. */
function isDue(lastUsedAt: number | null, usedAt: number): boolean {
  return lastUsedAt === null || Math.abs(lastUsedAt - usedAt) >= KEY_USE_INTERVAL_MS;
}

function requireKey(tx: Tx, id: string): ListedKey {
  const key = findKey(tx, id);
  if (!key) throw refusal("key_not_found");
  return key;
}

function auditKey(
  tx: Tx,
  context: Context,
  actor: Actor,
  action: AuditAction,
  before: Auditable | null,
  after: Auditable,
): void {
  audit(tx, context, {
    actor,
    action,
    subject: after.id,
    account: after.resellerAccount,
    before: before && keyFacts(before),
    after: keyFacts(after),
  });
}

type Auditable = Key & { replacedBy?: string | null };

/** The fields of a key that the audit log records: not its hash. */
function keyFacts(key: Auditable): AuditFacts {
  const { type, reach, label, active, expiresAt, allow, replacedBy = null } = key;
  return { start: shownStart(key), type, reach, label, active, expiresAt, allow, replacedBy };
}
