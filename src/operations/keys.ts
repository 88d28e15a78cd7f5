// API keys: made once, shown once, switched off and on.

import { refusal } from "../domain/errors.ts";
import type { KeyReach, KeyType } from "../domain/keys.ts";
import type { Tx } from "../db/connection.ts";
import { findKey, insertKey, type ListedKey, updateKeyActive } from "../db/keys.ts";
import type { Context } from "./context.ts";
import { requireUser } from "./users.ts";

export interface CreateKey {
  username: string;
  type: KeyType;
  reach: KeyReach;
  label: string;
  /** SHA-256 of the key. Its text never enters a command. */
  hash: string;
  start: string;
}

/** Refuses: user_not_found, child_cannot_hold_key. */
export function createKey(tx: Tx, command: CreateKey, context: Context): ListedKey {
  const user = requireUser(tx, command.username);
  if (user.parentAccount !== null) throw refusal("child_cannot_hold_key");
  const id = context.createId();
  insertKey(tx, {
    id,
    resellerAccount: user.account,
    hash: command.hash,
    start: command.start,
    type: command.type,
    reach: command.reach,
    label: command.label,
    active: true,
    createdAt: context.now,
  });
  return findKey(tx, id)!;
}

export interface SetKeyActive {
  id: string;
  active: boolean;
}

/** A running server refuses a deactivated key on its next request. Refuses: key_not_found. */
export function setKeyActive(tx: Tx, command: SetKeyActive): ListedKey {
  const key = findKey(tx, command.id);
  if (!key) throw refusal("key_not_found");
  updateKeyActive(tx, key.id, command.active);
  return { ...key, active: command.active };
}
