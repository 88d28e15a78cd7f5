// Administrators of the panel. Each is invited, and has a role of their own. A change after which a session could no
// longer be trusted ends all sessions of that administrator. Passwords and second factors: sign-ins/credentials.ts.

import { mayAct, type Role, ROLES } from "../../domain/administrators/administrators.ts";
import type { AuditAction, AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { INVITATION_MS } from "../../domain/sign-ins/sign-ins.ts";
import { type Administrator, administrators } from "../../db/tables/administrators.ts";
import { countOwners, findAdministrator } from "../../db/administrators/administrators.ts";
import type { Tx } from "../../db/port/port.ts";
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

const PANEL = realmOf("panel");

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
  endSessionsOf(tx, PANEL, name);
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
    endSessionsOf(tx, PANEL, name);
    forgetNetworks(tx, PANEL, name);
  }
  const changed = tx.update(administrators, found, {
    active,
    ...(active ? {} : NO_INVITATION),
  });
  const action = active ? "administrator.enable" : "administrator.disable";
  auditChange(tx, context, actor, action, changed, { active: found.active }, { active });
  return shown(changed);
}

/**
 * After a restore: takes back what the administrator could not do any more after the backup, even from the last owner. The
 * sessions have already ended.
 */
export function keepAccess(tx: Tx, later: LaterAccess, actor: Actor, context: Context): void {
  const found = findAdministrator(tx, later.key);
  if (!found) return;
  const lost = lostAccess(found, later, {
    roles: ROLES,
    takesAway: (from, to) => !mayAct(to, from),
    mayEnter: found.active,
  });
  if (!lost) return;
  const changed = tx.update(administrators, found, lost.changes);
  for (const { verb, before, after } of lost.records) {
    auditChange(tx, context, actor, `administrator.${verb}`, changed, before, after);
  }
}

function requireAdministrator(tx: Tx, name: string): Administrator {
  const found = findAdministrator(tx, name);
  if (!found) throw refusal("administrator_not_found");
  return found;
}

function refuseLastOwner(tx: Tx, { role, active, passwordHash }: Administrator): void {
  const counts = role === "owner" && active && passwordHash !== null;
  if (counts && countOwners(tx) === 1) throw refusal("administrator_last_owner");
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
