// Administrators of the panel. Each is invited, and has a password, a role and a second factor of their own. A change
// after which a session could no longer be trusted ends all sessions of that administrator.

import { type Role } from "../../domain/administrators/administrators.ts";
import type { AuditAction, AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { hashRecoveryCode, stepOfCode } from "../../domain/sign-ins/second-factor.ts";
import { INVITATION_MS } from "../../domain/sign-ins/sign-ins.ts";
import {
  type Administrator,
  administrators,
  knownNetworks,
  panelSessions,
  recoveryCodes,
} from "../../db/tables/administrators.ts";
import {
  countOwners,
  findAdministrator,
  findInvited,
  listRecoveryCodes,
  listSessionsOf,
} from "../../db/administrators/administrators.ts";
import type { Tx } from "../../db/port/port.ts";
import { listKnownNetworks } from "../../db/sign-ins/sign-ins.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

/** An administrator without secrets, for callers. */
export interface ShownAdministrator {
  name: string;
  role: Role;
  active: boolean;
  hasPassword: boolean;
  hasSecondFactor: boolean;
}

export interface InviteAdministrator {
  name: string;
  role: Role;
  /** SHA-256 of the token. */
  invitationHash: string;
  actor: Actor;
}

/** Invites an administrator. Can be repeated until the invitation is accepted. Refuses: administrator_name_taken. */
export function inviteAdministrator(
  tx: Tx,
  { name, role, invitationHash, actor }: InviteAdministrator,
  context: Context,
): ShownAdministrator {
  const found = findAdministrator(tx, name);
  if (found && found.passwordHash !== null) throw refusal("administrator_name_taken");
  const invitation = {
    role,
    active: true,
    invitationHash,
    invitedUntil: context.now + INVITATION_MS,
  };
  const invited = found
    ? tx.update(administrators, found, invitation)
    : tx.insert(administrators, { name, createdAt: context.now, ...invitation });
  auditChange(tx, context, actor, "administrator.invite", invited, null, { role });
  return shown(invited);
}

export interface AcceptInvitation {
  /** SHA-256 of the token. */
  invitationHash: string;
  /** The hash from Bun.password. */
  passwordHash: string;
}

/** Sets the password of an invited administrator. An invitation works once. Refuses: invitation_invalid. */
export function acceptInvitation(
  tx: Tx,
  { invitationHash, passwordHash }: AcceptInvitation,
  context: Context,
): ShownAdministrator {
  const invited = findInvited(tx, invitationHash);
  if (!invited || !invited.active || invited.invitedUntil! <= context.now) {
    throw refusal("invitation_invalid");
  }
  const accepted = tx.update(administrators, invited, {
    passwordHash,
    invitationHash: null,
    invitedUntil: null,
  });
  const actor = { keyId: null, operator: `panel:${invited.name}` };
  auditChange(tx, context, actor, "administrator.accept", accepted, null, { role: accepted.role });
  return shown(accepted);
}

export interface SetPassword {
  name: string;
  passwordHash: string;
  actor: Actor;
}

/**
 * Sets a password, ends all sessions and forgets the known networks. Refuses: administrator_not_found.
 */
export function setAdministratorPassword(
  tx: Tx,
  { name, passwordHash, actor }: SetPassword,
  context: Context,
): ShownAdministrator {
  const found = requireAdministrator(tx, name);
  endSessionsOf(tx, name);
  forgetNetworks(tx, name);
  const changed = tx.update(administrators, found, {
    passwordHash,
    invitationHash: null,
    invitedUntil: null,
  });
  auditChange(tx, context, actor, "administrator.password", changed, null, { password: "changed" });
  return shown(changed);
}

export interface SetRole {
  name: string;
  role: Role;
  actor: Actor;
}

/** Sets a role and ends all sessions. Refuses: administrator_not_found, administrator_last_owner. */
export function setAdministratorRole(
  tx: Tx,
  { name, role, actor }: SetRole,
  context: Context,
): ShownAdministrator {
  const found = requireAdministrator(tx, name);
  if (found.role === role) return shown(found);
  if (role !== "owner") refuseLastOwner(tx, found);
  endSessionsOf(tx, name);
  const changed = tx.update(administrators, found, { role });
  auditChange(tx, context, actor, "administrator.role", changed, { role: found.role }, { role });
  return shown(changed);
}

export interface SetActive {
  name: string;
  active: boolean;
  actor: Actor;
}

/**
 * Enables or disables an administrator. A disabled one has no sessions and cannot sign in.
 * Refuses: administrator_not_found, administrator_last_owner.
 */
export function setAdministratorActive(
  tx: Tx,
  { name, active, actor }: SetActive,
  context: Context,
): ShownAdministrator {
  const found = requireAdministrator(tx, name);
  if (!active) {
    refuseLastOwner(tx, found);
    endSessionsOf(tx, name);
    forgetNetworks(tx, name);
  }
  const changed = tx.update(administrators, found, {
    active,
    ...(active ? {} : { invitationHash: null, invitedUntil: null }),
  });
  const action = active ? "administrator.enable" : "administrator.disable";
  auditChange(tx, context, actor, action, changed, { active: found.active }, { active });
  return shown(changed);
}

/**
 * After a restore: disables an administrator again who was disabled since the backup, even the last owner. The sessions
 * have already ended.
 */
export function keepDisabled(tx: Tx, name: string, actor: Actor, context: Context): void {
  const found = findAdministrator(tx, name);
  if (!found?.active) return;
  const off = { active: false, invitationHash: null, invitedUntil: null };
  const changed = tx.update(administrators, found, off);
  auditChange(
    tx,
    context,
    actor,
    "administrator.disable",
    changed,
    { active: true },
    { active: false },
  );
}

export interface RevokeSessions {
  name: string;
  /** The id of one session; null: all. */
  session: string | null;
  actor: Actor;
}

/** Ends sessions. Returns how many. Refuses: administrator_not_found, session_not_found. */
export function revokeSessions(
  tx: Tx,
  { name, session, actor }: RevokeSessions,
  context: Context,
): number {
  const found = requireAdministrator(tx, name);
  const isThere = session === null || listSessionsOf(tx, name).some(({ id }) => id === session);
  if (!isThere) throw refusal("session_not_found");
  const ended = endSessionsOf(tx, name, session);
  if (session === null) forgetNetworks(tx, name);
  if (ended > 0)
    auditChange(tx, context, actor, "administrator.revoke", found, null, { sessions: ended });
  return ended;
}

export interface OfferSecondFactor {
  name: string;
  /** Base32. */
  secret: string;
}

/**
 * Stores a secret for the second factor. It takes effect after the administrator has entered a code made with it.
 * Refuses: administrator_not_found, second_factor_present.
 */
export function offerSecondFactor(tx: Tx, { name, secret }: OfferSecondFactor): null {
  const found = requireAdministrator(tx, name);
  if (found.totpSecret !== null) throw refusal("second_factor_present");
  tx.update(administrators, found, { offeredSecret: secret });
  return null;
}

export interface EnableSecondFactor {
  name: string;
  code: string;
  /** SHA-256 of each recovery code. */
  recoveryHashes: string[];
  actor: Actor;
}

/**
 * Turns the offered second factor on and ends all sessions.
 * Refuses: administrator_not_found, second_factor_present, second_factor_absent, code_wrong.
 */
export function enableSecondFactor(
  tx: Tx,
  { name, code, recoveryHashes, actor }: EnableSecondFactor,
  context: Context,
): null {
  const found = requireAdministrator(tx, name);
  if (found.totpSecret !== null) throw refusal("second_factor_present");
  if (found.offeredSecret === null) throw refusal("second_factor_absent");
  const step = stepOfCode(found.offeredSecret, code, context.now, 0);
  if (step === null) throw refusal("code_wrong");
  const old = listRecoveryCodes(tx, name);
  endSessionsOf(tx, name);
  for (const each of old) tx.delete(recoveryCodes, each);
  const changed = tx.update(administrators, found, {
    totpSecret: found.offeredSecret,
    offeredSecret: null,
    totpStep: step,
  });
  for (const hash of recoveryHashes) tx.insert(recoveryCodes, { administrator: name, hash });
  auditChange(tx, context, actor, "administrator.second_factor", changed, NONE, {
    secondFactor: "on",
  });
  return null;
}

export interface RemoveSecondFactor {
  name: string;
  actor: Actor;
}

/** Turns the second factor off and ends all sessions. Refuses: administrator_not_found, second_factor_absent. */
export function removeSecondFactor(
  tx: Tx,
  { name, actor }: RemoveSecondFactor,
  context: Context,
): ShownAdministrator {
  const found = requireAdministrator(tx, name);
  if (found.totpSecret === null) throw refusal("second_factor_absent");
  const codes = listRecoveryCodes(tx, name);
  endSessionsOf(tx, name);
  for (const each of codes) tx.delete(recoveryCodes, each);
  const changed = tx.update(administrators, found, { totpSecret: null, offeredSecret: null });
  auditChange(
    tx,
    context,
    actor,
    "administrator.second_factor",
    changed,
    { secondFactor: "on" },
    NONE,
  );
  return shown(changed);
}

/** Checks a code of the authenticator or a recovery code. Either works only once. Refuses: code_wrong. */
export function takeCode(tx: Tx, found: Administrator, code: string, now: number): void {
  const { name, totpSecret, totpStep } = found;
  if (totpSecret === null) throw refusal("code_wrong");
  const step = stepOfCode(totpSecret, code.replace(/\s/g, ""), now, totpStep);
  if (step !== null) {
    tx.update(administrators, found, { totpStep: step });
    return;
  }
  const recovery = tx.row(recoveryCodes.byKey, name, hashRecoveryCode(code));
  if (!recovery) throw refusal("code_wrong");
  tx.delete(recoveryCodes, recovery);
}

const NONE: AuditFacts = { secondFactor: "off" };

function requireAdministrator(tx: Tx, name: string): Administrator {
  const found = findAdministrator(tx, name);
  if (!found) throw refusal("administrator_not_found");
  return found;
}

function refuseLastOwner(tx: Tx, { role, active, passwordHash }: Administrator): void {
  const counts = role === "owner" && active && passwordHash !== null;
  if (counts && countOwners(tx) === 1) throw refusal("administrator_last_owner");
}

function endSessionsOf(tx: Tx, name: string, only: string | null = null): number {
  const sessions = listSessionsOf(tx, name).filter(({ id }) => only === null || id === only);
  for (const session of sessions) tx.delete(panelSessions, session);
  return sessions.length;
}

/** Forgets the known networks: an intruder may have signed in from one of them. */
function forgetNetworks(tx: Tx, name: string): void {
  for (const each of listKnownNetworks(tx, name)) tx.delete(knownNetworks, each);
}

function shown({
  name,
  role,
  active,
  passwordHash,
  totpSecret,
}: Administrator): ShownAdministrator {
  return {
    name,
    role,
    active,
    hasPassword: passwordHash !== null,
    hasSecondFactor: totpSecret !== null,
  };
}

function auditChange(
  tx: Tx,
  context: Context,
  actor: Actor,
  action: AuditAction,
  { name }: Administrator,
  before: AuditFacts | null,
  after: AuditFacts,
): void {
  audit(tx, context, { actor, action, subject: name, account: null, before, after });
}
