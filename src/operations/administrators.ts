// Administrators of the panel: invited, with a password, a role and a second factor of their own. What ends the trust in
// a session ends all sessions of its administrator.

import { type Role } from "../domain/administrators.ts";
import type { AuditAction, AuditFacts } from "../domain/audit.ts";
import type { Actor } from "../domain/ledger.ts";
import { refusal } from "../domain/refusals.ts";
import { hashRecoveryCode, stepOfCode } from "../domain/second-factor.ts";
import { INVITATION_MS } from "../domain/sign-ins.ts";
import {
  type Administrator,
  countOwners,
  findAdministrator,
  findInvited,
  listRecoveryCodes,
  listSessionsOf,
} from "../db/administrators.ts";
import type { Tx } from "../db/port.ts";
import { administrators, panelSessions, recoveryCodes } from "../db/tables.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";

/** Returned to callers: nothing that must stay secret. */
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

/** One who was invited and has not answered is invited again. Refuses: administrator_name_taken. */
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
  note(tx, context, actor, "administrator.invite", invited, null, { role });
  return shown(invited);
}

export interface AcceptInvitation {
  /** SHA-256 of the token. */
  invitationHash: string;
  /** As Bun.password makes it. */
  passwordHash: string;
}

/** Once. Refuses: invitation_invalid. */
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
  note(tx, context, actor, "administrator.accept", accepted, null, { role: accepted.role });
  return shown(accepted);
}

export interface SetPassword {
  name: string;
  passwordHash: string;
  actor: Actor;
}

/** Ends the sessions. Refuses: administrator_not_found. */
export function setAdministratorPassword(
  tx: Tx,
  { name, passwordHash, actor }: SetPassword,
  context: Context,
): ShownAdministrator {
  const found = requireAdministrator(tx, name);
  endSessionsOf(tx, name);
  const changed = tx.update(administrators, found, {
    passwordHash,
    invitationHash: null,
    invitedUntil: null,
  });
  note(tx, context, actor, "administrator.password", changed, null, { password: "changed" });
  return shown(changed);
}

export interface SetRole {
  name: string;
  role: Role;
  actor: Actor;
}

/** Ends the sessions. Refuses: administrator_not_found, administrator_last_owner. */
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
  note(tx, context, actor, "administrator.role", changed, { role: found.role }, { role });
  return shown(changed);
}

export interface SetActive {
  name: string;
  active: boolean;
  actor: Actor;
}

/** One who is disabled has no sessions and cannot sign in. Refuses: administrator_not_found, administrator_last_owner. */
export function setAdministratorActive(
  tx: Tx,
  { name, active, actor }: SetActive,
  context: Context,
): ShownAdministrator {
  const found = requireAdministrator(tx, name);
  if (!active) {
    refuseLastOwner(tx, found);
    endSessionsOf(tx, name);
  }
  const changed = tx.update(administrators, found, {
    active,
    ...(active ? {} : { invitationHash: null, invitedUntil: null }),
  });
  const action = active ? "administrator.enable" : "administrator.disable";
  note(tx, context, actor, action, changed, { active: found.active }, { active });
  return shown(changed);
}

/** After a restore: whoever was disabled since the backup, the last owner too. The sessions have ended already. */
export function keepDisabled(tx: Tx, name: string, actor: Actor, context: Context): void {
  const found = findAdministrator(tx, name);
  if (!found?.active) return;
  const off = { active: false, invitationHash: null, invitedUntil: null };
  const changed = tx.update(administrators, found, off);
  note(tx, context, actor, "administrator.disable", changed, { active: true }, { active: false });
}

export interface RevokeSessions {
  name: string;
  /** One of them; null: all. */
  session: string | null;
  actor: Actor;
}

/** Returns how many sessions ended. Refuses: administrator_not_found. */
export function revokeSessions(
  tx: Tx,
  { name, session, actor }: RevokeSessions,
  context: Context,
): number {
  const found = requireAdministrator(tx, name);
  const ended = endSessionsOf(tx, name, session);
  if (ended > 0) note(tx, context, actor, "administrator.revoke", found, null, { sessions: ended });
  return ended;
}

export interface OfferSecondFactor {
  name: string;
  /** Base32. */
  secret: string;
}

/** The secret counts once a code of it was given. Refuses: administrator_not_found, second_factor_present. */
export function offerSecondFactor(tx: Tx, { name, secret }: OfferSecondFactor): null {
  const found = requireAdministrator(tx, name);
  if (found.totpSecret !== null) throw refusal("second_factor_present");
  tx.update(administrators, found, { offeredSecret: secret });
  return null;
}

export interface EnableSecondFactor {
  name: string;
  code: string;
  /** SHA-256 of each. */
  recoveryHashes: string[];
  actor: Actor;
}

/** Ends the sessions. Refuses: administrator_not_found, second_factor_present, second_factor_absent, code_wrong. */
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
  note(tx, context, actor, "administrator.second_factor", changed, NONE, { secondFactor: "on" });
  return null;
}

export interface RemoveSecondFactor {
  name: string;
  actor: Actor;
}

/** Ends the sessions. Refuses: administrator_not_found, second_factor_absent. */
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
  note(tx, context, actor, "administrator.second_factor", changed, { secondFactor: "on" }, NONE);
  return shown(changed);
}

/** A code of the authenticator or a recovery code, which is then used up. Refuses: code_wrong. */
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

function note(
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
