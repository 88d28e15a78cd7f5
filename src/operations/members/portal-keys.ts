// API keys that members create, rotate and deactivate in the portal. They can do no more than the operator allows in
// the reseller's portal, and reach no user of another reseller.

import { findPortalSettings } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Member } from "../../db/tables/members.ts";
import { users } from "../../db/tables/users.ts";
import { countUsableKeysOf, findKey, type ListedKey } from "../../db/users/keys.ts";
import { findTestAccount } from "../../db/users/users.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { mayCreateKey, MEMBER_KEYS_LIMIT } from "../../domain/members/portal.ts";
import { keyTypeMay } from "../../domain/users/keys.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { Context } from "../batch/context.ts";
import {
  createKey,
  type CreateKey,
  type RotateKey,
  rotateKey,
  setKeyActive,
} from "../users/keys.ts";
import { requireMember } from "./acting.ts";

export type CreateOwnKey = Omit<CreateKey, "username" | "reach" | "test">;

/**
 * Creates a key of the member's reseller; on its test side, a test key. Refuses what requireMember refuses, key_type_not_allowed, keys_limit, then what
 * createKey refuses.
 */
export function createOwnKey(tx: Tx, command: CreateOwnKey, context: Context): ListedKey {
  const member = requireMember(tx, command.actor, "keys");
  refuseStrongKey(tx, member, command.type);
  refuseTooManyKeys(tx, member);
  const { username } = tx.row(users.byKey, member.account)!;
  // Keys without look-up have no reach; the operator's form stores the same for them.
  const reach = keyTypeMay(command.type, "user lookup") ? "children" : "all";
  const test = command.actor.isTest ?? false;
  return createKey(tx, { ...command, username, reach, test }, context);
}

/**
 * Replaces a key of the member's reseller. Refuses what requireMember refuses, key_not_found, key_type_not_allowed,
 * keys_limit, then what rotateKey refuses.
 */
export function rotateOwnKey(tx: Tx, command: RotateKey, context: Context): ListedKey {
  const member = requireMember(tx, command.actor, "keys");
  const key = requireOwnKey(tx, member, command);
  refuseStrongKey(tx, member, key.type);
  // The operator uses such a key in a program of its own, so no member may see the text of its successor.
  if (keyTypeMay(key.type, "user lookup") && key.reach === "all") {
    throw refusal("key_type_not_allowed");
  }
  refuseTooManyKeys(tx, member);
  return rotateKey(tx, command, context);
}

export interface OfOwnKey {
  id: string;
  actor: Actor;
}

/** Deactivates a key of the member's reseller, of any type. Refuses what requireMember refuses, key_not_found. */
export function deactivateOwnKey(tx: Tx, { id, actor }: OfOwnKey, context: Context): ListedKey {
  const member = requireMember(tx, actor, "keys");
  requireOwnKey(tx, member, { id, actor });
  return setKeyActive(tx, { id, active: false, actor }, context);
}

/** Refuses a type above what the portal allows. Only owners may have keys that can create credit. */
function refuseStrongKey(tx: Tx, { account, role }: Member, type: CreateKey["type"]): void {
  if (!mayCreateKey(findPortalSettings(tx, account), role, type)) {
    throw refusal("key_type_not_allowed");
  }
}

function refuseTooManyKeys(tx: Tx, { account }: Member): void {
  if (countUsableKeysOf(tx, accountsOf(tx, account)) >= MEMBER_KEYS_LIMIT) {
    throw new Refusal("keys_limit", { limit: MEMBER_KEYS_LIMIT });
  }
}

/** Returns the key of the member's reseller, of the side that the member acts on. Refuses: key_not_found. */
function requireOwnKey(tx: Tx, { account }: Member, { id, actor }: OfOwnKey): ListedKey {
  const key = findKey(tx, id);
  const owner = actor.isTest ? key?.testOf : key?.resellerAccount;
  if (!key || owner !== account) throw refusal("key_not_found");
  return key;
}

function accountsOf(tx: Tx, account: number): number[] {
  const test = findTestAccount(tx, account);
  return test ? [account, test.account] : [account];
}
