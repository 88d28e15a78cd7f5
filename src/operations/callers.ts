// Checks the key that a command is run for, in the transaction of the command.
// The check when the request's headers arrive is not enough: the body may take half a minute to arrive, the command
// waits in a queue, and a duplicate waits for the first request. The key may be deactivated or expire meanwhile.

import type { CallerKey } from "../db/keys.ts";
import type { Tx } from "../db/port.ts";
import { keys } from "../db/tables.ts";
import { refusal } from "../domain/refusals.ts";
import { type Permission, refuseEndedKey, refuseMissingPermission } from "../domain/keys.ts";
import type { Context } from "./context.ts";

/**
 * Refuses: api_key_invalid, api_key_inactive, api_key_expired, permission_denied.
 * The address is not checked again: no command changes an allow list.
 */
export function requireCaller(
  tx: Tx,
  keyId: string,
  permission: Permission,
  { now }: Context,
): CallerKey {
  const key = tx.row(keys.byKey, keyId);
  if (!key) throw refusal("api_key_invalid");
  // A key is deactivated under this lock, and an Idempotency-Key or a reference is taken under it: by another server, too,
  // everything below is decided either before that or after it.
  tx.lock(key.resellerAccount);
  refuseEndedKey(key, now);
  refuseMissingPermission(key.type, permission);
  return key;
}
