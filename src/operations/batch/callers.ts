// Checks the key that a command is run for, in the transaction of the command.
// The check when the request's headers arrive is not enough: the body may take half a minute to arrive, the command
// waits in a queue, and a duplicate waits for the first request. In that time the key may be deactivated or expire.

import type { Key } from "../../db/users/keys.ts";
import type { Tx } from "../../db/port/port.ts";
import { keys } from "../../db/tables/users.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  type Permission,
  refuseEndedKey,
  refuseMissingPermission,
} from "../../domain/users/keys.ts";
import type { Context } from "./context.ts";

/**
 * Returns the caller's key. Refuses: api_key_invalid, api_key_inactive, api_key_expired, permission_denied.
 * The address is not checked again: no command changes an allow list.
 */
export function requireCaller(
  tx: Tx,
  keyId: string,
  permission: Permission,
  { now }: Context,
): Key {
  const key = tx.row(keys.byKey, keyId);
  if (!key) throw refusal("api_key_invalid");
  // Every server takes this lock to deactivate a key, or to use an Idempotency-Key or a reference. So everything below
  // is decided either before such a change or after it.
  tx.lock(key.resellerAccount);
  refuseEndedKey(key, now);
  refuseMissingPermission(key.type, permission);
  return key;
}
