// Checks who a command about members is run for, in the transaction of the command: since the request arrived, the role
// of the member or the administrator may have changed, or the reseller or its portal may have been switched off.

import { findPortalSettings } from "../../db/members/members.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { type Member, members } from "../../db/tables/members.ts";
import { users } from "../../db/tables/users.ts";
import { findTestAccount } from "../../db/users/users.ts";
import {
  type MemberPermission,
  type MemberRole,
  mayMember,
  memberOf,
} from "../../domain/members/members.ts";
import { mayCreateCredit } from "../../domain/members/portal.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { requireRole } from "../administrators/acting.ts";

/** A member, and the account that it acts on. */
export interface ActingMember {
  member: Member;
  /** The account of its reseller, or the test account of it. Locked. */
  account: number;
}

/**
 * Returns the member that is the author of a change, and the account that the change is for. Refuses what requireMember
 * refuses, then not_found for a test account that was not opened.
 */
export function requireActingMember(
  tx: Tx,
  actor: Actor,
  permission: MemberPermission,
): ActingMember {
  const member = requireMember(tx, actor, permission);
  if (!actor.isTest) return { member, account: member.account };
  const test = findTestAccount(tx, member.account);
  if (!test) throw refusal("not_found");
  tx.lock(test.account);
  return { member, account: test.account };
}

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

/** Refuses an administrator who may not manage members. Refuses what requireRole refuses. */
export function requireManager(reader: Reader, actor: Actor): void {
  requireRole(reader, actor, "operator", "manage members");
}

/**
 * Refuses an administrator who may not let somebody act as a member with this role. Whoever gets a link to a password
 * can act as the member, so only owners may give one to a member who may create keys that create credit. Refuses what
 * requireRole refuses.
 */
export function requireGranter(
  reader: Reader,
  actor: Actor,
  { account, role }: { account: number; role: MemberRole },
): void {
  const isCredit = mayCreateCredit(findPortalSettings(reader, account), role);
  const what = "give access to members who may make keys that create credit";
  requireRole(reader, actor, isCredit ? "owner" : "operator", what);
}
