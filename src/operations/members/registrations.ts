// Registrations: a visitor asks for an account. It waits for the operator, or is opened at once. No result tells whether
// the address is known.

import { type Actor } from "../../domain/ledger/ledger.ts";
import type { Language } from "../../domain/members/languages.ts";
import { memberAuthor } from "../../domain/members/members.ts";
import { isUsername } from "../../domain/users/users.ts";
import { lifetimesOf } from "../../domain/sign-ins/sign-ins.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { LINK_PAUSE_MS } from "../../domain/mails/mails.ts";
import { findMemberByEmail } from "../../db/members/members.ts";
import {
  countRegistrations,
  findRegistration,
  findRegistrationByEmail,
} from "../../db/members/registrations.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { members, registrations } from "../../db/tables/members.ts";
import { findUser } from "../../db/users/users.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { createUser } from "../users/users.ts";
import { requireManager } from "./acting.ts";
import { queueMail } from "../mails/mails.ts";
import { countTry, type VisitorOrigin } from "../sign-ins/sign-ins.ts";
import { mailLink, newMember, nextLinkAt, refuseMailOff } from "./members.ts";

interface Visitor {
  /** In lower case. */
  email: string;
  name: string;
  language: Language;
}

export interface Register extends Visitor {
  /** Limit for the registrations that wait. */
  limit: number;
}

/** Records a visitor who waits for the operator. Does nothing for a known address. Refuses: registrations_full. */
export function register(tx: Tx, command: Register, context: Context): null {
  if (countRegistrations(tx) >= command.limit) throw refusal("registrations_full");
  if (findMemberByEmail(tx, command.email)) return null;
  const found = findRegistrationByEmail(tx, command.email);
  const asked = { ...pick(command), createdAt: context.now, ...NO_CONFIRMATION };
  if (!found) tx.insert(registrations, { id: context.createId(), ...asked });
  else if (found.confirmUntil !== null) tx.update(registrations, found, asked);
  return null;
}

/** The columns of a visitor who waits for the operator. */
const NO_CONFIRMATION = { confirmHash: null, confirmUntil: null };

export interface AskAccount extends Register {
  from: VisitorOrigin;
}

/**
 * Sends a visitor a link that proves the address and opens the account; nothing is created before. A known address gets
 * a mail that says so. Counts as an attempt to sign in, in the same transaction, so that known and unknown addresses take
 * the same time. Refuses: sign_in_limited, registrations_full.
 */
export function askAccount(tx: Tx, command: AskAccount, context: Context): null {
  const { now } = context;
  const { from, limit, ...visitor } = command;
  const isFull = countRegistrations(tx) >= limit;
  const member = findMemberByEmail(tx, visitor.email);
  const toldAt = member ? nextLinkAt(tx, "registration_known", member, context) : null;
  countTry(tx, from, context);
  if (isFull) throw refusal("registrations_full");
  // Nothing is refused from here on.
  if (member) {
    if (toldAt === now) {
      queueMail(tx, { kind: "registration_known", to: { member }, data: {} }, context);
    }
    return null;
  }
  const found = findRegistrationByEmail(tx, visitor.email);
  // The visitor waits for the operator, or got a link just now.
  if (found && (found.confirmUntil === null || found.createdAt > now - LINK_PAUSE_MS)) return null;
  const confirmUntil = now + lifetimesOf("portal").resetMs;
  const asked = { ...pick(visitor), createdAt: now, confirmUntil };
  const { id, name, language } = found
    ? tx.update(registrations, found, asked)
    : tx.insert(registrations, { id: context.createId(), ...asked });
  const data = { registration: id, name, language };
  queueMail(tx, { kind: "registration", to: { visitor: visitor.email }, data }, context);
  return null;
}

export interface ConfirmAccount {
  /** SHA-256 of the token. */
  confirmHash: string;
  /** The hash from Bun.password. */
  passwordHash: string;
}

/**
 * Opens the account of a visitor who has the link, with its first owner. Returns the owner's id. Refuses:
 * invitation_invalid, also if the address got an account in another way.
 */
export function confirmAccount(
  tx: Tx,
  { confirmHash, passwordHash }: ConfirmAccount,
  context: Context,
): string {
  const found = tx.row(registrations.byConfirmation, confirmHash);
  if (!found || found.confirmUntil! <= context.now || findMemberByEmail(tx, found.email)) {
    throw refusal("invitation_invalid");
  }
  tx.delete(registrations, found);
  return open(tx, { ...pick(found), passwordHash }, context);
}

export interface OpenAccount extends Visitor {
  /** The hash from Bun.password. */
  passwordHash: string;
}

/** Opens a reseller with its first owner at once. Does nothing for a known address. */
export function openAccount(tx: Tx, command: OpenAccount, context: Context): null {
  if (!findMemberByEmail(tx, command.email)) open(tx, command, context);
  return null;
}

/** Opens a reseller with its first owner. Returns the owner's id. */
function open(tx: Tx, command: OpenAccount, context: Context): string {
  const memberId = context.createId();
  const actor = { keyId: null, operator: memberAuthor(memberId) };
  const username = freeUsername(tx, command.email, memberId);
  const { name, passwordHash } = command;
  const { account } = createUser(tx, { username, name, parent: null, actor }, context);
  const owner = { id: memberId, account, role: "owner" as const };
  const member = newMember({ ...pick(command), ...owner }, context);
  tx.insert(members, { ...member, passwordHash });
  auditRegistration(tx, actor, "member.register", memberId, account, command.email, context);
  return memberId;
}

export interface DecideRegistration {
  id: string;
  actor: Actor;
}

export interface ApproveRegistration extends DecideRegistration {
  /** Null: made from the address. */
  username: string | null;
  /** SHA-256 of the token of a link; null: the link is sent by e-mail. */
  invitationHash: string | null;
}

/**
 * Creates a reseller for a visitor, and invites the visitor as its first owner. Refuses: what requireManager refuses,
 * registration_not_found, member_email_taken, username_taken.
 */
export function approveRegistration(
  tx: Tx,
  command: ApproveRegistration,
  context: Context,
): { username: string; email: string } {
  const { actor, invitationHash } = command;
  requireManager(tx, actor);
  refuseMailOff(tx, invitationHash);
  const found = requireRegistration(tx, command.id);
  const { email } = found;
  if (findMemberByEmail(tx, email)) throw refusal("member_email_taken");
  const id = context.createId();
  const username = command.username ?? freeUsername(tx, email, id);
  const { account } = createUser(tx, { username, name: found.name, parent: null, actor }, context);
  tx.delete(registrations, found);
  const owner = { id, account, role: "owner" as const };
  const invitedUntil = context.now + lifetimesOf("portal").invitationMs;
  const link = invitationHash === null ? {} : { invitationHash, invitedUntil };
  const owned = newMember({ ...pick(found), ...owner }, context);
  const member = tx.insert(members, { ...owned, ...link });
  if (invitationHash === null) mailLink(tx, "invitation", member, context.now, context);
  auditRegistration(tx, actor, "registration.approve", id, account, email, context);
  return { username, email };
}

/** Declines a visitor. Refuses: what requireManager refuses, registration_not_found. */
export function declineRegistration(tx: Tx, command: DecideRegistration, context: Context): null {
  requireManager(tx, command.actor);
  const found = requireRegistration(tx, command.id);
  tx.delete(registrations, found);
  audit(tx, context, {
    actor: command.actor,
    action: "registration.decline",
    subject: found.id,
    account: null,
    before: null,
    after: { decided: "declined" },
  });
  return null;
}

function pick({ email, name, language }: Visitor): Visitor {
  return { email, name, language };
}

function requireRegistration(tx: Tx, id: string) {
  const found = findRegistration(tx, id);
  // A visitor who was sent a link has not proved the address yet, and does not wait for the operator.
  if (!found || found.confirmUntil !== null) throw refusal("registration_not_found");
  return found;
}

/** Returns the address as a username, or one made from the id. */
function freeUsername(reader: Reader, email: string, id: string): string {
  const isFree = isUsername(email) && !findUser(reader, email);
  return isFree ? email : `reseller-${id}`;
}

function auditRegistration(
  tx: Tx,
  actor: Actor,
  action: "member.register" | "registration.approve",
  subject: string,
  account: number,
  email: string,
  context: Context,
): void {
  audit(tx, context, { actor, action, subject, account, before: null, after: { email } });
}
