// E-mail addresses of members. A member gets a new one by a link that proves it. Until then the program does not tell
// whether the address belongs to somebody else. Only the operator changes an address at once.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { isSameEmail, NO_NEW_ADDRESS } from "../../domain/members/members.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { findMemberByEmail } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { type Member, members } from "../../db/tables/members.ts";
import type { Context } from "../batch/context.ts";
import { queueMail } from "../mails/mails.ts";
import { NO_INVITATION } from "../sign-ins/credentials.ts";
import { requireGranter, requireMember } from "./acting.ts";
import { auditMember, requireMemberRow } from "./members.ts";

export interface ProveAddress {
  /** SHA-256 of the token of the link. */
  hash: string;
  actor: Actor;
}

/**
 * Gives a signed-in member the address to which its link was sent. Returns the address. Refuses: what requireMember
 * refuses, invitation_invalid, member_email_held.
 */
export function proveAddress(tx: Tx, { hash, actor }: ProveAddress, context: Context): string {
  const found = requireMember(tx, actor, "read");
  const { newEmail, newEmailHash, newEmailUntil } = found;
  const isOpen = newEmailHash === hash && newEmailUntil! > context.now;
  if (!isOpen || newEmail === null) throw refusal("invitation_invalid");
  if (findMemberByEmail(tx, newEmail)) throw refusal("member_email_held");
  move(tx, found, newEmail, actor, context);
  return newEmail;
}

export interface SetMemberEmail {
  id: string;
  /** In lower case. */
  email: string;
  actor: Actor;
}

/**
 * Changes a member's address at once, for the operator. Refuses: member_not_found, what requireGranter refuses,
 * member_email_taken.
 */
export function setMemberEmail(tx: Tx, command: SetMemberEmail, context: Context): null {
  const { id, email, actor } = command;
  const found = requireMemberRow(tx, id);
  // Whoever gets the mail of an account can take it over.
  requireGranter(tx, actor, found);
  if (isSameEmail(found.email, email)) return null;
  if (findMemberByEmail(tx, email)) throw refusal("member_email_taken");
  move(tx, found, email, actor, context);
  return null;
}

/**
 * Ends open links, because somebody else may read the mails to the old address, and tells the old address of the change
 * if it signed in.
 */
function move(tx: Tx, found: Member, email: string, actor: Actor, context: Context): void {
  const { email: before } = found;
  tx.update(members, found, { email, ...NO_INVITATION, ...NO_NEW_ADDRESS });
  auditMember(tx, actor, "member.update", found, { email: before }, { email }, context);
  if (found.passwordHash === null) return;
  const data = { at: context.now };
  queueMail(tx, { kind: "address_changed", to: { member: found }, data }, context);
}
