// Registrations: a visitor asks for an account. It waits for the operator, or is opened at once. No result tells whether
// the address is known.

import { type Actor } from "../../domain/ledger/ledger.ts";
import type { Language } from "../../domain/members/languages.ts";
import { memberAuthor, UNPROVED_LIMIT } from "../../domain/members/members.ts";
import { isUsername } from "../../domain/users/users.ts";
import { lifetimesOf } from "../../domain/sign-ins/sign-ins.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { LINK_PAUSE_MS } from "../../domain/mails/mails.ts";
import { findMemberByEmail } from "../../db/members/members.ts";
import {
  countRegistrations,
  findOfBusiest,
  findOldestUnproved,
  findRegistration,
  findRegistrationByEmail,
} from "../../db/members/registrations.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { members, type Registration, registrations } from "../../db/tables/members.ts";
import { findUser } from "../../db/users/users.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { createUser } from "../users/users.ts";
import { requireManager } from "./acting.ts";
import { queueMail } from "../mails/mails.ts";
import { countTry, type VisitorOrigin } from "../sign-ins/sign-ins.ts";
import { mailLink, newMember, nextLinkAt, NOBODY, refuseMailOff } from "./members.ts";

interface Visitor {
  /** In lower case. */
  email: string;
  name: string;
  language: Language;
}

export interface Register extends Visitor {
  from: VisitorOrigin;
  /** Limit for the registrations that wait for the operator; null: none waits, the account is opened. */
  limit: number | null;
}

/**
 * Records a visitor who waits for the operator without having proved the address. Does nothing for a known address.
 * Where all places are taken, one of the network that took the most makes room. Counts as an attempt to sign in, in the
 * same transaction, so that known and unknown addresses take the same time. Refuses: sign_in_limited,
 * registrations_full.
 */
export function register(tx: Tx, command: Register, context: Context): null {
  const { from, limit, email } = command;
  const { waiting } = countRegistrations(tx);
  const isFull = limit !== null && waiting >= limit;
  const leaving = isFull ? findOfBusiest(tx, "waiting", from.network) : undefined;
  const member = findMemberByEmail(tx, email);
  const found = findRegistrationByEmail(tx, email);
  countTry(tx, from, context);
  if (isFull && !leaving) throw refusal("registrations_full");
  // Nothing is refused from here on.
  if (member) return null;
  const { network } = from;
  const asked = { ...pick(command), createdAt: context.now, network, ...NO_CONFIRMATION };
  if (found) {
    if (found.confirmUntil !== null) tx.update(registrations, found, asked);
    return null;
  }
  if (leaving) tx.delete(registrations, leaving);
  tx.insert(registrations, { id: context.createId(), ...asked });
  return null;
}

/** The columns of a visitor who waits for the operator. */
const NO_CONFIRMATION = { confirmHash: null, confirmUntil: null };

/**
 * Sends a visitor a link that proves the address; then the account is opened, or waits for the operator. Nothing is
 * created before. A known address gets a mail that says so. Visitors who have not proved their address keep nobody out:
 * above UNPROVED_LIMIT one of the network that has the most makes room, or else the oldest. Counts as an attempt to sign
 * in, in the same transaction, so that known and unknown addresses take the same time. Refuses: sign_in_limited,
 * registrations_full.
 */
export function askAccount(tx: Tx, command: Register, context: Context): null {
  const { now } = context;
  const { from, limit, ...visitor } = command;
  const { waiting, unproved } = countRegistrations(tx);
  const isFull = limit !== null && waiting >= limit;
  const leaving = unproved >= UNPROVED_LIMIT ? leavingUnproved(tx, from.network) : undefined;
  const member = findMemberByEmail(tx, visitor.email);
  const found = findRegistrationByEmail(tx, visitor.email);
  const toldAt = nextLinkAt(tx, "registration_known", member ?? NOBODY, context);
  countTry(tx, from, context);
  if (isFull) throw refusal("registrations_full");
  // Nothing is refused from here on.
  if (member) {
    if (toldAt === now) {
      queueMail(tx, { kind: "registration_known", to: { member }, data: {} }, context);
    }
    return null;
  }
  // The visitor waits for the operator, or got a link just now.
  if (found && (found.confirmUntil === null || found.createdAt > now - LINK_PAUSE_MS)) return null;
  const confirmUntil = now + lifetimesOf("portal").resetMs;
  const asked = { ...pick(visitor), createdAt: now, confirmUntil, network: from.network };
  if (!found && leaving) tx.delete(registrations, leaving);
  const { id, name, language } = found
    ? tx.update(registrations, found, asked)
    : tx.insert(registrations, { id: context.createId(), ...asked });
  const data = { registration: id, name, language, waits: limit !== null };
  queueMail(tx, { kind: "registration", to: { visitor: visitor.email }, data }, context);
  return null;
}

function leavingUnproved(tx: Tx, network: string): Registration | undefined {
  return findOfBusiest(tx, "unproved", network) ?? findOldestUnproved(tx);
}

export interface ProveRegistration {
  /** SHA-256 of the token. */
  confirmHash: string;
  from: VisitorOrigin;
  /** Limit for the registrations that wait for the operator. */
  limit: number;
}

/**
 * Lets a visitor who has the link wait for the operator. Refuses: sign_in_limited, invitation_invalid, also if the
 * address got an account in another way, registrations_full; the link works again then.
 */
export function proveRegistration(tx: Tx, command: ProveRegistration, context: Context): null {
  const { confirmHash, from, limit } = command;
  const { waiting } = countRegistrations(tx);
  const found = requireConfirmed(tx, confirmHash, context);
  countTry(tx, from, context);
  if (waiting >= limit) throw refusal("registrations_full");
  // Nothing is refused from here on.
  tx.update(registrations, found, { createdAt: context.now, ...NO_CONFIRMATION });
  // It has no personal data, because an erasure does not reach the operator's mails.
  const data = { at: context.now };
  queueMail(tx, { kind: "registration_to_approve", to: "operator", data }, context);
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
  const found = requireConfirmed(tx, confirmHash, context);
  tx.delete(registrations, found);
  return open(tx, { ...pick(found), passwordHash }, context);
}

/** Finds the visitor who has the link. Refuses: invitation_invalid. */
function requireConfirmed(tx: Tx, confirmHash: string, { now }: Context): Registration {
  const found = tx.row(registrations.byConfirmation, confirmHash);
  if (!found || found.confirmUntil! <= now || findMemberByEmail(tx, found.email)) {
    throw refusal("invitation_invalid");
  }
  return found;
}

interface OpenedAccount extends Visitor {
  /** The hash from Bun.password. */
  passwordHash: string;
}

export interface OpenAccount extends OpenedAccount {
  from: VisitorOrigin;
}

/**
 * Opens a reseller with its first owner at once. Does nothing for a known address. Counts as an attempt to sign in, in
 * the same transaction, so that known and unknown addresses take the same time. Refuses: sign_in_limited.
 */
export function openAccount(tx: Tx, { from, ...command }: OpenAccount, context: Context): null {
  const member = findMemberByEmail(tx, command.email);
  countTry(tx, from, context);
  // Nothing is refused from here on.
  if (!member) open(tx, command, context);
  return null;
}

/** Opens a reseller with its first owner. Returns the owner's id. */
function open(tx: Tx, command: OpenedAccount, context: Context): string {
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
