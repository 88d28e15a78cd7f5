// Members of resellers, the rows of their sign-ins, and what a reseller's portal allows.

import { portalDefaults } from "../../domain/members/portal.ts";
import { lowerAscii } from "../port/filtered-lists.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select, selectAs, statement } from "../port/query.ts";
import { boolean, number, text } from "../port/table-definition.ts";
import { signInRows } from "../sign-ins/sign-ins.ts";
import {
  type Member,
  members,
  portalSettings,
  type PortalSettings,
  portalSignIns,
} from "../tables/members.ts";
import { users } from "../tables/users.ts";

/** The queries of the portal's sign-ins. */
export const PORTAL_SIGN_INS = signInRows(portalSignIns);

const OF_ACCOUNT = query({
  parameters: { account: number },
  columns: fields(members),
  text: `SELECT ${select(members)} FROM members WHERE account = :account ORDER BY created_at, id`,
});

const INVITED = query({
  parameters: { email: text, limit: number },
  columns: fields(members),
  text: `SELECT ${select(members)} FROM members
    WHERE lower(email) = :email AND password_hash IS NULL ORDER BY id LIMIT :limit`,
});

const ALL = query({
  parameters: { after: text, limit: number },
  columns: { ...fields(members), username: text, portalActive: boolean },
  text: `SELECT ${selectAs(members, "members")}, users.username AS username,
      coalesce(portal_settings.active, 1) AS "portalActive"
    FROM members JOIN users ON users.account = members.account
      LEFT JOIN portal_settings ON portal_settings.account = members.account
    WHERE members.id > :after ORDER BY members.id LIMIT :limit`,
});

/** Deletes the attempts of a reseller's members, with their addresses. */
export const FORGET_ATTEMPTS_OF = statement({
  parameters: { account: number },
  writes: [portalSignIns.attempts],
  text: `DELETE FROM member_attempts
    WHERE member IN (SELECT id FROM members WHERE account = :account)`,
});

export function findMember(reader: Reader, id: string): Member | undefined {
  return reader.row(members.byKey, id);
}

/** Finds the member who signs in with the address. Those who have not accepted an invitation are not found. */
export function findMemberByEmail(reader: Reader, email: string): Member | undefined {
  return reader.row(members.byEmail, email);
}

/** Lists who has not accepted an invitation to this address. Several resellers may have invited it. */
export function listInvitedByEmail(reader: Reader, email: string, limit: number): Member[] {
  return reader.all(INVITED, { email: lowerAscii(email), limit });
}

export function findInvitedMember(reader: Reader, invitationHash: string): Member | undefined {
  return reader.row(members.byInvitation, invitationHash);
}

/** The members of a reseller, the oldest first. */
export function listMembersOf(reader: Reader, account: number): Member[] {
  return reader.all(OF_ACCOUNT, { account });
}

/** Members of all resellers with ids after `after`, in the order of their ids. */
export function listMembers(reader: Reader, after: string, limit: number) {
  return reader.all(ALL, { after, limit });
}

/** Returns what the portal of a reseller allows. */
export function findPortalSettings(reader: Reader, account: number): PortalSettings {
  return reader.row(portalSettings.byKey, account) ?? { account, ...portalDefaults };
}

/** Returns whether the member, its reseller and the reseller's portal are all on. */
export function mayUsePortal(reader: Reader, { active, account }: Member): boolean {
  if (!active || !reader.row(users.byKey, account)!.active) return false;
  return findPortalSettings(reader, account).active;
}
