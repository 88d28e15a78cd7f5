// Checks the member that a command is run for, in the transaction of the command: since the request arrived, its role
// may have changed, or its reseller or its portal may have been switched off.

import { findPortalSettings } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { type Member, members } from "../../db/tables/members.ts";
import { users } from "../../db/tables/users.ts";
import { type MemberPermission, mayMember, memberOf } from "../../domain/members/members.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";

/**
 * Returns the member that is the author of a change. Its reseller's account is locked. Refuses: member_not_allowed,
 * user_inactive, portal_off.
 */
export function requireMember(tx: Tx, actor: Actor, permission: MemberPermission): Member {
  const id = memberOf(actor.operator);
  const member = id === null ? undefined : tx.row(members.byKey, id);
  if (!member?.active || !mayMember(member.role, permission)) throw refusal("member_not_allowed");
  tx.lock(member.account);
  if (!tx.row(users.byKey, member.account)!.active) throw refusal("user_inactive");
  if (!findPortalSettings(tx, member.account).active) throw refusal("portal_off");
  return member;
}
