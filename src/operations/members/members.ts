// Members of resellers: inviting, changing and disabling them, by the operator or by an owner among the members. A change
// after which a session could no longer be trusted ends all sessions of that member. Passwords and second factors:
// operations/sign-ins/credentials.ts.

import type { AuditAction, AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { DEFAULT_TIME_ZONE, type Language } from "../../domain/members/languages.ts";
import {
  DEFAULT_MAILS,
  type MemberRole,
  MEMBER_ROLES,
  MEMBERS_EVER_LIMIT,
  isSameEmail,
  NO_NEW_ADDRESS,
  MEMBERS_LIMIT,
  takesAway,
} from "../../domain/members/members.ts";
import { LINK_PAUSE_MS } from "../../domain/mails/mails.ts";
import { ERASED } from "../../domain/users/erasures.ts";
import { lifetimesOf } from "../../domain/sign-ins/sign-ins.ts";
import { DAY_MS, HOUR_MS } from "../../domain/values/spans.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import {
  findMember,
  findMemberByEmail,
  FORGET_ATTEMPTS_OF,
  listMembersOf,
  mayUsePortal,
} from "../../db/members/members.ts";
import { FORGET_VISITORS, isMailOn, findLatestMail } from "../../db/mails/mails.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { type Member, members } from "../../db/tables/members.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import {
  endSessionsOf,
  forgetNetworks,
  type LaterAccess,
  lostAccess,
  NO_INVITATION,
} from "../sign-ins/credentials.ts";
import { realmOf } from "../sign-ins/realms.ts";
import { queueMail } from "../mails/mails.ts";
import { requireUser } from "../users/users.ts";
import { requireGranter, requireManager, requireMember } from "./acting.ts";
import { keepMailsOff } from "./mail-choices.ts";

const PORTAL = realmOf("portal");

/** Who is invited. */
export interface Invitation {
  /** In lower case. */
  email: string;
  /** Null: the address. */
  name: string | null;
  role: MemberRole;
  language: Language;
  /** SHA-256 of the token of a link; null: the link is sent by e-mail. */
  invitationHash: string | null;
}

export interface InviteMember extends Invitation {
  username: string;
  actor: Actor;
}

/**
 * Invites a member for the operator. Can be repeated until the invitation is accepted. Returns the member's id. Refuses:
 * user_not_found, user_erased, child_has_no_members, what requireGranter refuses, mail_off, member_email_taken,
 * members_limit.
 */
export function inviteMember(tx: Tx, command: InviteMember, context: Context): string {
  const { account, parentAccount, erasedAt } = requireUser(tx, command.username);
  if (erasedAt !== null) throw refusal("user_erased");
  if (parentAccount !== null) throw refusal("child_has_no_members");
  requireGranter(tx, command.actor, { account, role: command.role });
  refuseMailOff(tx, command.invitationHash);
  if (findMemberByEmail(tx, command.email)) throw refusal("member_email_taken");
  return invite(tx, account, command, command.actor, context);
}

export type InviteOwnMember = Invitation & { actor: Actor };

/**
 * Invites a member for an owner. Reads the reseller's own members only, so that neither the result nor its time tells
 * whether the address belongs to somebody else. Only the person who accepts the invitation learns that. Refuses what requireMember refuses,
 * mail_off, member_email_taken (by a member of the same reseller), members_limit.
 */
export function inviteOwnMember(tx: Tx, command: InviteOwnMember, context: Context): string {
  const { account } = requireMember(tx, command.actor, "members");
  return invite(tx, account, command, command.actor, context);
}

function invite(
  tx: Tx,
  account: number,
  { email, name, role, language, invitationHash }: Invitation,
  actor: Actor,
  context: Context,
): string {
  refuseMailOff(tx, invitationHash);
  const own = listMembersOf(tx, account).filter((each) => isSameEmail(each.email, email));
  if (own.some(({ passwordHash }) => passwordHash !== null)) throw refusal("member_email_taken");
  const [found] = own;
  if (!found?.active) refuseFull(tx, account, found ? 0 : 1);
  const dueAt = found ? nextLinkAt(tx, "invitation", found, context) : context.now;
  // Nothing is refused from here on.
  const invitedUntil = context.now + lifetimesOf("portal").invitationMs;
  // Until a mail with a link is sent, an earlier link works.
  const link = invitationHash === null ? {} : { invitationHash, invitedUntil };
  const invitation = { role, active: true, ...link };
  const invited = found
    ? tx.update(members, found, { ...invitation, ...(name !== null && { name }) })
    : tx.insert(members, {
        ...newMember({ id: context.createId(), account, email, name, role, language }, context),
        ...invitation,
      });
  auditMember(tx, actor, "member.invite", invited, null, { email, role }, context);
  if (invitationHash === null) mailLink(tx, "invitation", invited, dueAt, context);
  return invited.id;
}

/** Refuses a link that is to be sent by e-mail where no server sends any. Refuses: mail_off. */
export function refuseMailOff(reader: Reader, invitationHash: string | null): void {
  if (invitationHash === null && !isMailOn(reader)) throw refusal("mail_off");
}

type LinkMail = "invitation" | "password_reset" | "address_change";
/** Number of links that a member can have sent to new addresses within an hour before there are pauses. */
const ADDRESSES_AT_ONCE = 3;

/** Asked about for an unknown address, so that it takes the same time. */
export const NOBODY = { id: "" };

/**
 * Returns when a further mail of the kind may go to the member, so that nobody floods an address: now, after a pause, or
 * null if one waits already.
 */
export function nextLinkAt(
  reader: Reader,
  kind: LinkMail | "registration_known",
  { id }: Pick<Member, "id">,
  { now }: Context,
): number | null {
  const isAddress = kind === "address_change";
  const { at, untried, count } = findLatestMail(
    reader,
    id,
    kind,
    now - (isAddress ? HOUR_MS : DAY_MS),
  );
  if (untried > 0) return null;
  // Whoever mistyped an address need not wait.
  if (at === null || (isAddress && count < ADDRESSES_AT_ONCE)) return now;
  return Math.max(now, at + LINK_PAUSE_MS);
}

/** Queues a mail with a link, unless one waits (`dueAt` is null). Its secret is made when it is sent. */
export function mailLink(
  tx: Tx,
  kind: LinkMail,
  member: Member,
  dueAt: number | null,
  context: Context,
): void {
  if (dueAt !== null) queueMail(tx, { kind, to: { member }, data: {}, dueAt }, context);
}

/** Refuses one more active member above MEMBERS_LIMIT, and `added` rows above MEMBERS_EVER_LIMIT. Refuses: members_limit. */
function refuseFull(reader: Reader, account: number, added: 0 | 1): void {
  const all = listMembersOf(reader, account);
  const active = all.filter((each) => each.active);
  if (active.length >= MEMBERS_LIMIT) throw new Refusal("members_limit", { limit: MEMBERS_LIMIT });
  if (all.length + added > MEMBERS_EVER_LIMIT) {
    throw new Refusal("members_limit", { limit: MEMBERS_EVER_LIMIT });
  }
}

/** Returns the row of a new member without a password. */
export function newMember(
  given: Pick<Member, "id" | "account" | "email" | "role" | "language"> & { name: string | null },
  { now }: Context,
) {
  const defaults = { timeZone: DEFAULT_TIME_ZONE, mails: DEFAULT_MAILS, active: true };
  return { ...given, ...defaults, name: given.name ?? given.email, createdAt: now };
}

export interface ResetMember {
  id: string;
  /** SHA-256 of the token of a link; null: the link is sent by e-mail. */
  invitationHash: string | null;
  actor: Actor;
}

/**
 * Lets a member set a new password by a link. The old one works until then. Refuses: member_not_found, what
 * requireGranter refuses, mail_off, member_not_invited.
 */
export function resetMember(tx: Tx, command: ResetMember, context: Context): null {
  const found = requireMemberRow(tx, command.id);
  requireGranter(tx, command.actor, found);
  return reset(tx, found, command, context);
}

/** Runs resetMember for an owner. Refuses what requireMember refuses, then what resetMember refuses. */
export function resetOwnMember(tx: Tx, command: ResetMember, context: Context): null {
  return reset(tx, requireColleague(tx, command), command, context);
}

function reset(
  tx: Tx,
  found: Member,
  { invitationHash, actor }: ResetMember,
  context: Context,
): null {
  refuseMailOff(tx, invitationHash);
  if (!found.active) throw refusal("member_not_found");
  if (found.passwordHash === null) throw refusal("member_not_invited");
  const dueAt = nextLinkAt(tx, "password_reset", found, context);
  // Nothing is refused from here on.
  if (invitationHash === null) mailLink(tx, "password_reset", found, dueAt, context);
  else {
    const invitedUntil = context.now + lifetimesOf("portal").resetMs;
    tx.update(members, found, { invitationHash, invitedUntil });
  }
  auditMember(tx, actor, "member.reset", found, null, { email: found.email }, context);
  return null;
}

export interface SetMemberRole {
  id: string;
  role: MemberRole;
  actor: Actor;
}

/**
 * Sets a role and ends the member's sessions. The operator may also change the last owner's. Refuses: member_not_found,
 * what requireGranter refuses.
 */
export function setMemberRole(tx: Tx, command: SetMemberRole, context: Context): null {
  const found = requireMemberRow(tx, command.id);
  requireGranter(tx, command.actor, { account: found.account, role: command.role });
  return changeRole(tx, found, command, context);
}

/** Sets a role for an owner. Refuses what requireMember refuses, member_not_found, member_last_owner. */
export function setOwnMemberRole(tx: Tx, command: SetMemberRole, context: Context): null {
  const found = requireColleague(tx, command);
  if (command.role !== "owner") refuseLastOwner(tx, found);
  return changeRole(tx, found, command, context);
}

function changeRole(tx: Tx, found: Member, { role, actor }: SetMemberRole, context: Context): null {
  if (found.role === role) return null;
  endSessionsOf(tx, PORTAL, found.id);
  const changed = tx.update(members, found, { role });
  auditMember(tx, actor, "member.role", changed, { role: found.role }, { role }, context);
  return null;
}

export interface SetMemberActive {
  id: string;
  active: boolean;
  actor: Actor;
}

/**
 * Enables or disables a member. A disabled one has no sessions and cannot sign in. The operator may also disable the last
 * owner. Refuses: member_not_found, what requireManager or requireGranter refuses, members_limit.
 */
export function setMemberActive(tx: Tx, command: SetMemberActive, context: Context): null {
  const found = requireMemberRow(tx, command.id);
  if (command.active) requireGranter(tx, command.actor, found);
  else requireManager(tx, command.actor);
  return changeActive(tx, found, command, context);
}

/**
 * Runs setMemberActive for an owner. Refuses what requireMember refuses, member_not_found, member_last_owner,
 * members_limit.
 */
export function setOwnMemberActive(tx: Tx, command: SetMemberActive, context: Context): null {
  const found = requireColleague(tx, command);
  if (!command.active) refuseLastOwner(tx, found);
  return changeActive(tx, found, command, context);
}

function changeActive(
  tx: Tx,
  found: Member,
  { active, actor }: SetMemberActive,
  context: Context,
): null {
  if (active && !found.active) refuseFull(tx, found.account, 0);
  // Nothing is refused from here on.
  if (!active) {
    endSessionsOf(tx, PORTAL, found.id);
    forgetNetworks(tx, PORTAL, found.id);
  }
  const changed = tx.update(members, found, { active, ...(active ? {} : NO_INVITATION) });
  const action = active ? "member.enable" : "member.disable";
  auditMember(tx, actor, action, changed, { active: found.active }, { active }, context);
  return null;
}

/** What a member could do in the database that a restore replaced. */
export interface LaterMember extends LaterAccess {
  /** The e-mails that it received. */
  mails: string;
}

/**
 * Takes away again, after a restore, the rights that the member lost after the backup, even from the last owner, and
 * turns off the e-mails that it had turned off. The sessions have already ended. A member who could not use the portal
 * when the backup was made is not disabled.
 */
export function keepMemberAccess(tx: Tx, later: LaterMember, actor: Actor, context: Context): void {
  const found = findMember(tx, later.key);
  if (!found) return;
  keepMailsOff(tx, found, later.mails, actor, context);
  const mayEnter = mayUsePortal(tx, found);
  const lost = lostAccess(found, later, { roles: MEMBER_ROLES, takesAway, mayEnter });
  if (!lost) return;
  const changed = tx.update(members, found, lost.changes);
  for (const { verb, before, after } of lost.records) {
    auditMember(tx, actor, `member.${verb}`, changed, before, after, context);
  }
}

export interface UpdateMember {
  /** Absent: unchanged. */
  changes: Partial<Own>;
  /** Another address, in lower case, which is the member's once a link proves it. Absent: none is asked for. */
  newEmail?: string;
  actor: Actor;
}

/**
 * Changes what members may change of themselves. Sends a link to a new address, whether or not it belongs to somebody
 * else. Only the person who opens the link learns that. Refuses: what requireMember refuses, mail_off.
 */
export function updateMember(tx: Tx, command: UpdateMember, context: Context): null {
  const { changes, newEmail, actor } = command;
  const found = requireMember(tx, actor, "read");
  const isAsked = newEmail !== undefined && !isSameEmail(newEmail, found.email);
  if (isAsked) refuseMailOff(tx, null);
  const dueAt = isAsked ? nextLinkAt(tx, "address_change", found, context) : null;
  // Nothing is refused from here on.
  const newEmailUntil = context.now + lifetimesOf("portal").resetMs;
  // A link that was sent to the same address stays.
  const newEmailHash = newEmail === found.newEmail ? found.newEmailHash : null;
  const asked = isAsked ? { newEmail, newEmailHash, newEmailUntil } : {};
  const after = { ...factsOf(found), ...changes, ...(isAsked && { newEmail }) };
  const changed = tx.update(members, found, { ...changes, ...asked });
  auditMember(tx, actor, "member.update", found, factsOf(found), after, context);
  if (isAsked) mailLink(tx, "address_change", { ...changed, email: newEmail }, dueAt, context);
  return null;
}

/** Erases the members of a reseller. Must come before every other write of its command. */
export function eraseMembers(tx: Tx, account: number): void {
  const all = listMembersOf(tx, account);
  const { rows, tables } = PORTAL;
  const codes = tx.each(all, ({ id }) => rows.listRecoveryCodes(tx, id)).flat();
  const networks = tx.each(all, ({ id }) => rows.listKnownNetworks(tx, id)).flat();
  const sessions = tx.each(all, ({ id }) => rows.listSessionsOf(tx, id)).flat();
  tx.run(FORGET_ATTEMPTS_OF, { account });
  tx.run(FORGET_VISITORS, { account });
  for (const each of codes) tx.delete(tables.codes, each);
  for (const each of networks) tx.delete(tables.networks, each);
  for (const each of sessions) tx.delete(tables.sessions, each);
  tx.each(all, (member) =>
    tx.update(members, member, {
      email: `${ERASED}-${member.id}@erased.invalid`,
      name: ERASED,
      timeZone: DEFAULT_TIME_ZONE,
      mails: "",
      active: false,
      passwordHash: null,
      totpSecret: null,
      offeredSecret: null,
      ...NO_INVITATION,
      ...NO_NEW_ADDRESS,
    }),
  );
}

type Own = Pick<Member, "name" | "language" | "timeZone" | "mails">;

function factsOf({ name, language, timeZone, mails }: Own): AuditFacts {
  return { name, language, timeZone, mails };
}

/** Returns the member. Refuses: member_not_found. */
export function requireMemberRow(tx: Tx, id: string): Member {
  const found = findMember(tx, id);
  if (!found) throw refusal("member_not_found");
  return found;
}

/** Returns a member of the author's reseller. Refuses what requireMember refuses, member_not_found. */
function requireColleague(tx: Tx, { id, actor }: { id: string; actor: Actor }): Member {
  const { account } = requireMember(tx, actor, "members");
  const found = requireMemberRow(tx, id);
  if (found.account !== account) throw refusal("member_not_found");
  return found;
}

function refuseLastOwner(tx: Tx, { id, account }: Member): void {
  const owners = listMembersOf(tx, account).filter(
    ({ role, active, passwordHash }) => role === "owner" && active && passwordHash !== null,
  );
  if (owners.length === 1 && owners[0]!.id === id) throw refusal("member_last_owner");
}

export function auditMember(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  { id, account }: Member,
  before: AuditFacts | null,
  after: AuditFacts,
  context: Context,
): void {
  audit(tx, context, { actor, action, subject: id, account, before, after });
}
