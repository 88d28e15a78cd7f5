// What a reseller's portal allows unless the operator decides otherwise.

import { KEY_TYPES, keyTypeMay, type KeyType } from "../users/keys.ts";
import type { MemberRole } from "./members.ts";

export const portalDefaults = {
  active: true,
  /** The most powerful keys that members may create. */
  keys: "order" as KeyType,
  lowBalanceMicros: null as number | null,
};

/**
 * Limit for the keys of a reseller, test keys too, that are neither deactivated nor expired. At the limit members
 * cannot create keys.
 */
export const MEMBER_KEYS_LIMIT = 100;

/** Returns whether a member may create or rotate keys of this type. Only owners may do so with keys that recharge. */
export function mayCreateKey(
  { keys }: { keys: KeyType },
  role: MemberRole,
  type: KeyType,
): boolean {
  const isAllowed = KEY_TYPES.indexOf(type) <= KEY_TYPES.indexOf(keys);
  return isAllowed && (type === "order" || role === "owner");
}

/** Returns whether a member with this role may create keys that create credit. */
export function mayCreateCredit({ keys }: { keys: KeyType }, role: MemberRole): boolean {
  return KEY_TYPES.some(
    (type) => keyTypeMay(type, "recharge") && mayCreateKey({ keys }, role, type),
  );
}
