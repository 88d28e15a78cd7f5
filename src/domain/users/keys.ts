// API keys: `rk_` (test keys: `rk_test_`), 22 random base62 characters (131 bits), and 6 characters of checksum. The
// checksum is only for the log, to distinguish a mistyped key from an unknown one. Only a key's SHA-256 is stored.

import { Refusal, refusal } from "../values/error-table.ts";
import { MINUTE_MS } from "../values/spans.ts";

export const KEY_TYPES = ["order", "recharge", "full"] as const;
export type KeyType = (typeof KEY_TYPES)[number];
export const KEY_REACHES = ["all", "children"] as const;
/** The users whom a key may look up and recharge: all, or only its reseller's child users. */
export type KeyReach = (typeof KEY_REACHES)[number];

export const KEY_LABEL_LENGTH_LIMIT = 100;
/** Shortest time between two writes of a key's last use. */
export const KEY_USE_INTERVAL_MS = MINUTE_MS;
/** Limit for networks in the allow list of a key (--allow). */
export const KEY_NETWORKS_LIMIT = 50;
/** Bytes of randomness that `formatKey` needs: 136 bits, reduced to 22 base62 characters. */
export const KEY_RANDOM_BYTES = 17;

const PREFIX = "rk_";
const TEST_PREFIX = "rk_test_";
const RANDOM_LENGTH = 22;
const CHECKSUM_LENGTH = 6;
/** Number of characters after the prefix that are stored in clear, to recognise a key in a list. */
const START_LENGTH = 5;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY = /^rk_(test_)?[0-9A-Za-z]{28}$/;
const KEYS = /(rk_(?:test_)?)[0-9A-Za-z]{28}/g;

export type Permission = "order" | "recharge" | "user lookup" | "webhook";

const PERMISSIONS: Record<KeyType, readonly Permission[]> = {
  order: ["order", "webhook"],
  recharge: ["recharge", "user lookup"],
  full: ["order", "recharge", "user lookup", "webhook"],
};

/** Returns whether keys of the type have the permission. docs/specification/users.md#keys-permissions. */
export function keyTypeMay(type: KeyType, permission: Permission): boolean {
  return PERMISSIONS[type].includes(permission);
}

/** Returns whether the key can add real money to a balance. A test key adds only test money. */
export function createsCredit({ type, testOf }: { type: KeyType; testOf: number | null }): boolean {
  return testOf === null && keyTypeMay(type, "recharge");
}

interface Lifetime {
  /** Null: it does not expire. */
  expiresAt: number | null;
  /** Whether the key has expired for good, even if the clock is set back. */
  ended: boolean;
}

export function isKeyExpired({ expiresAt, ended }: Lifetime, now: number): boolean {
  return ended || (expiresAt !== null && expiresAt <= now);
}

export const KEY_STATES = ["active", "expired", "rotated", "off"] as const;
/** `rotated`: replaced by another key, even while it still works. `off`: the key or its user is deactivated. */
export type KeyState = (typeof KEY_STATES)[number];

export function keyState(
  key: Lifetime & { active: boolean; replacedBy: string | null },
  now: number,
): KeyState {
  if (!key.active) return "off";
  if (key.replacedBy !== null) return "rotated";
  return isKeyExpired(key, now) ? "expired" : "active";
}

/** Refuses a key that is not valid any more. Refuses: api_key_inactive, api_key_expired. */
export function refuseEndedKey(key: Lifetime & { active: boolean }, now: number): void {
  if (!key.active) throw refusal("api_key_inactive");
  if (isKeyExpired(key, now)) throw refusal("api_key_expired");
}

/** Refuses a key without the permission. Refuses: permission_denied. */
export function refuseMissingPermission(type: KeyType, permission: Permission): void {
  if (!keyTypeMay(type, permission)) throw new Refusal("permission_denied", { permission });
}

/** Makes the key's text from KEY_RANDOM_BYTES random bytes. */
export function formatKey(random: Uint8Array, isTest = false): string {
  let value = random.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  value %= 62n ** BigInt(RANDOM_LENGTH);
  const body = (isTest ? TEST_PREFIX : PREFIX) + base62(value, RANDOM_LENGTH);
  return body + checksum(body);
}

/** Returns whether the text has the form and checksum of a key: false for a mistyped or truncated key. */
export function isKeyWellFormed(text: string): boolean {
  return KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Returns the SHA-256 in lower-case hexadecimal, the only form in which a key is stored. */
export function hashKey(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}

/** Masks every complete key in a text that a caller sent, such as a request id. */
export function maskKeys(text: string): string {
  return text.includes(PREFIX) ? text.replace(KEYS, "$1***") : text;
}

/** Returns whether the text begins like a test key, for responses that are sent before the key is looked up. */
export function looksLikeTestKey(text: string): boolean {
  return text.startsWith(TEST_PREFIX);
}

/**
 * Returns the first characters of a key, at most 8, which are stored to recognise it. A test key's start has no prefix:
 * shownStart adds it.
 */
export function startOfKey(text: string): string {
  if (looksLikeTestKey(text)) return text.slice(TEST_PREFIX.length).slice(0, START_LENGTH);
  return text.slice(0, PREFIX.length + START_LENGTH);
}

export function shownStart({ start, testOf }: { start: string; testOf: number | null }): string {
  return testOf === null ? start : TEST_PREFIX + start;
}

function checksum(body: string): string {
  return base62(BigInt(Bun.hash.crc32(body)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let remaining = value; text.length < length; remaining /= 62n)
    text = BASE62[Number(remaining % 62n)]! + text;
  return text;
}
