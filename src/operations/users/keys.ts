// API keys: creation, activation, rotation, expiry and last use.

import type { AuditAction, AuditFacts } from "../../domain/administrators/audit.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  isKeyExpired,
  KEY_USE_INTERVAL_MS,
  type KeyReach,
  type KeyType,
  keyTypeMay,
  shownStart,
} from "../../domain/users/keys.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { RechargeLimits } from "../../domain/ledger/recharges.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  findKey,
  type Key,
  listExpiredKeys,
  listKeys,
  type ListedKey,
} from "../../db/users/keys.ts";
import { keys, users } from "../../db/tables/users.ts";
import { addKeyRequests, deleteKeyRequests } from "../../db/users/key-requests.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { lockBothAccounts, openTestAccount } from "./test-accounts.ts";
import { requireUser } from "./users.ts";

export interface CreateKey {
  username: string;
  type: KeyType;
  reach: KeyReach;
  label: string;
  /** SHA-256 of the key. Its text never enters a command. */
  hash: string;
  start: string;
  /** Above 0; null: it does not expire. */
  lifetimeMilliseconds?: number | null;
  /** Networks in CIDR notation, separated by commas; empty: every address. */
  allow?: string;
  /** Only for keys that recharge; null or absent: no limit. */
  rechargeLimitMicros?: number | null;
  rechargeDailyMicros?: number | null;
  /** Creates a test key. It belongs to the reseller's test account, which the first test key creates. */
  test?: boolean;
  actor: Actor;
}

/** Creates a key. Refuses: key_cannot_recharge, user_not_found, child_cannot_hold_key, user_inactive. */
export function createKey(tx: Tx, command: CreateKey, context: Context): ListedKey {
  return insertKey(tx, command, null, context);
}

/** Inserts a key. `originId`: the first key of its chain of rotations; null for a key that replaces no other. */
function insertKey(
  tx: Tx,
  command: CreateKey,
  originId: string | null,
  context: Context,
): ListedKey {
  const { rechargeLimitMicros = null, rechargeDailyMicros = null } = command;
  refuseUnfitLimits(command.type, { rechargeLimitMicros, rechargeDailyMicros });
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
    rechargeLimitMicros,
    rechargeDailyMicros,
    originId,
  });
  auditKey(tx, context, command.actor, "key.create", null, key);
  return { ...key, username: user.username };
}

/** A key of another panel, as an Order Key. */
export interface ImportedKeyRow extends Pick<CreateKey, "hash" | "start" | "label" | "actor"> {
  account: number;
  /** Whether the user is active. */
  active: boolean;
}

/** Inserts a key that was imported from another panel. */
export function insertImportedKey(tx: Tx, row: ImportedKeyRow, context: Context): void {
  const { account, active, hash, start, label, actor } = row;
  const key = tx.insert(keys, {
    id: context.createId(),
    resellerAccount: account,
    hash,
    start,
    type: "order",
    reach: "all",
    label,
    active,
    suspended: !active,
    createdAt: context.now,
    imported: true,
  });
  auditKey(tx, context, actor, "key.create", null, key);
}

export interface SetKeyActive {
  id: string;
  active: boolean;
  actor: Actor;
}

/**
 * Activates or deactivates a key. A running server refuses a deactivated key on its next request. For an activated key
 * its expiresAt applies again. A key deactivated here stays inactive when its user is activated.
 * Refuses: key_not_found, user_inactive.
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
  /** Absent: unchanged. Lifetime: milliseconds from now on; null: it does not expire. Limits: null means no limit. */
  changes: {
    label?: string;
    lifetimeMilliseconds?: number | null;
    allow?: string;
  } & Partial<RechargeLimits>;
  actor: Actor;
}

/**
 * Changes a key. A running server applies the change on the key's next request. A new lifetime makes an expired key
 * valid again. A rotated key gets no new lifetime. Refuses: key_not_found, key_replaced, user_erased,
 * key_cannot_recharge.
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
  const limits = limitChanges(key, command.changes);
  const changes = {
    label,
    allow,
    expiresAt,
    ended: key.ended && lifetime === undefined,
    ...limits,
  };
  tx.update(keys, key, changes);
  const changed = { ...key, ...changes };
  auditKey(tx, context, command.actor, "key.update", key, changed);
  return changed;
}

/**
 * Returns the changes of the key's limits. New limits clear the record of a refused recharge.
 * Refuses: key_cannot_recharge.
 */
function limitChanges(key: Key, changes: Partial<RechargeLimits>): Partial<Key> {
  const {
    rechargeLimitMicros = key.rechargeLimitMicros,
    rechargeDailyMicros = key.rechargeDailyMicros,
  } = changes;
  const limits = { rechargeLimitMicros, rechargeDailyMicros };
  refuseUnfitLimits(key.type, limits);
  const isChanged =
    rechargeLimitMicros !== key.rechargeLimitMicros ||
    rechargeDailyMicros !== key.rechargeDailyMicros;
  return isChanged ? { ...limits, rechargeRefusedAt: null } : {};
}

/** Refuses limits for a key that cannot recharge. Refuses: key_cannot_recharge. */
function refuseUnfitLimits(type: KeyType, limits: RechargeLimits): void {
  const { rechargeLimitMicros, rechargeDailyMicros } = limits;
  const isLimited = rechargeLimitMicros !== null || rechargeDailyMicros !== null;
  if (isLimited && !keyTypeMay(type, "recharge")) throw refusal("key_cannot_recharge");
}

export interface DeactivateKeys {
  username: string;
  actor: Actor;
}

/**
 * Deactivates all keys of a reseller, test keys too. Returns how many were active, or suspended with their user.
 * Refuses: user_not_found, child_has_no_keys.
 */
export function deactivateKeys(
  tx: Tx,
  command: DeactivateKeys,
  context: Context,
): { keys: number } {
  const { account, parentAccount } = requireUser(tx, command.username);
  if (parentAccount !== null) throw refusal("child_has_no_keys");
  lockBothAccounts(tx, account);
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
  /** Hash of the new key, which is a test key if the old one is. */
  hash: string;
  start: string;
  /** How long the old key also stays valid, unless it expires sooner; 0: it ends at once. */
  graceMilliseconds: number;
  actor: Actor;
}

/**
 * Replaces a key with a new one of the same terms and lifetime. The old one ends after the grace period.
 * Refuses: key_not_found, api_key_inactive, api_key_expired, key_replaced.
 */
export function rotateKey(tx: Tx, command: RotateKey, context: Context): ListedKey {
  const { now } = context;
  const old = requireKey(tx, command.id);
  if (!old.active) throw refusal("api_key_inactive");
  // Checked first, because a rotation also sets the expiry of the replaced key.
  if (old.replacedBy !== null) throw refusal("key_replaced");
  if (isKeyExpired(old, now)) throw refusal("api_key_expired");
  const { actor, hash, start } = command;
  const replacement = insertKey(
    tx,
    {
      ...old,
      hash,
      start,
      actor,
      test: old.testOf !== null,
      lifetimeMilliseconds: old.expiresAt === null ? null : old.expiresAt - old.createdAt,
    },
    old.originId ?? old.id,
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
 * Marks expired keys as ended, so that they stay expired if the clock is set back. The caller makes sure that the clock
 * is right. Writes no audit entry, because the keys are refused already. Returns their ids.
 */
export function endExpiredKeys(tx: Tx, _command: null, context: Context): string[] {
  const expired = listExpiredKeys(tx, context.now);
  tx.each(expired, (id) => tx.update(keys, { id }, { ended: true }));
  return expired;
}

export interface RecordKeyUsage {
  uses: { id: string; usedAt: number; address?: string }[];
}

/** Records when keys were last used, and from where. Each key is written at most every KEY_USE_INTERVAL_MS. */
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

/** Days for which the requests of a key are kept. */
const REQUESTS_KEPT_DAYS = 62;

export interface CountKeyRequests {
  /** UTC day, in days since 1970. */
  day: number;
  counts: { id: string; requests: number; errors: number }[];
}

/** Adds requests to the counts of their keys, and deletes old counts of those keys. */
export function countKeyRequests(tx: Tx, { day, counts }: CountKeyRequests): null {
  addKeyRequests(tx, day, counts);
  deleteKeyRequests(
    tx,
    counts.map(({ id }) => id),
    day - REQUESTS_KEPT_DAYS,
  );
  return null;
}

/** Returns whether a use is recorded. Compares in both directions: a time from a clock that was ahead must not stay. */
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

/** Returns the fields of a key that the audit log records: not its hash, and no reach for an order key. */
function keyFacts(key: Auditable): AuditFacts {
  const { type, label, active, expiresAt, allow, replacedBy = null } = key;
  const { rechargeLimitMicros, rechargeDailyMicros } = key;
  return {
    start: shownStart(key),
    type,
    reach: keyTypeMay(type, "user lookup") ? key.reach : null,
    label,
    active,
    expiresAt,
    allow,
    replacedBy,
    rechargeLimitMicros,
    rechargeDailyMicros,
  };
}
