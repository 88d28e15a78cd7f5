// Passwords and second factors of the persons of a site. A change after which a session could no longer be trusted ends
// all sessions of that person.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { hashRecoveryCode, stepOfCode } from "../../domain/sign-ins/second-factor.ts";
import type { Site } from "../../domain/sign-ins/sign-ins.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Tx } from "../../db/port/port.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { type Person, type Realm, realmOf, requirePerson } from "./realms.ts";

export interface AcceptInvitation {
  site: Site;
  /** SHA-256 of the token. */
  invitationHash: string;
  /** The hash from Bun.password. */
  passwordHash: string;
}

/**
 * Sets the password of an invited person. A link to set a new password is an invitation too: it ends the sessions. An
 * invitation works once. Returns the key of the person. Refuses: invitation_invalid,
 * what refuseAccepting refuses.
 */
export function acceptInvitation(
  tx: Tx,
  { site, invitationHash, passwordHash }: AcceptInvitation,
  context: Context,
): string {
  const realm = realmOf(site);
  const invited = realm.findInvited(tx, invitationHash);
  if (!invited || !invited.active || invited.invitedUntil! <= context.now) {
    throw refusal("invitation_invalid");
  }
  realm.refuseAccepting(tx, invited);
  // Nothing is refused from here on.
  endSessionsOf(tx, realm, invited.key);
  forgetNetworks(tx, realm, invited.key);
  realm.change(tx, invited.key, { passwordHash, ...NO_INVITATION });
  const actor = { keyId: null, operator: invited.author };
  const isNew = invited.passwordHash === null;
  const after: AuditFacts = isNew ? { role: invited.role } : { password: "changed" };
  auditChange(tx, realm, actor, isNew ? "accept" : "password", invited, null, after, context);
  return invited.key;
}

export interface SetPassword {
  site: Site;
  person: string;
  passwordHash: string;
  actor: Actor;
}

/**
 * Sets a password, ends all sessions and forgets the known networks. Refuses an unknown person, an author who may not.
 */
export function setPassword(
  tx: Tx,
  { site, person, passwordHash, actor }: SetPassword,
  context: Context,
): null {
  const realm = realmOf(site);
  const found = requirePerson(realm, tx, person);
  realm.refuseAuthor(tx, actor, found, true);
  endSessionsOf(tx, realm, person);
  forgetNetworks(tx, realm, person);
  realm.change(tx, person, { passwordHash, ...NO_INVITATION });
  auditChange(tx, realm, actor, "password", found, null, { password: "changed" }, context);
  return null;
}

export interface RevokeSessions {
  site: Site;
  person: string;
  /** The id of one session; null: all. */
  session: string | null;
  /** The id of a session that does not end with all. */
  except?: string;
  actor: Actor;
}

/** Ends sessions. Returns how many. Refuses an unknown person, an author who may not, session_not_found. */
export function revokeSessions(
  tx: Tx,
  { site, person, session, except, actor }: RevokeSessions,
  context: Context,
): number {
  const realm = realmOf(site);
  const found = requirePerson(realm, tx, person);
  realm.refuseAuthor(tx, actor, found, false);
  const sessions = realm.rows.listSessionsOf(tx, person);
  const isThere = session === null || sessions.some(({ id }) => id === session);
  if (!isThere) throw refusal("session_not_found");
  const ended = endSessionsOf(tx, realm, person, session, except);
  if (session === null) forgetNetworks(tx, realm, person);
  if (ended > 0) auditChange(tx, realm, actor, "revoke", found, null, { sessions: ended }, context);
  return ended;
}

export interface OfferSecondFactor {
  site: Site;
  person: string;
  /** Base32. */
  secret: string;
}

/**
 * Stores a secret for the second factor. It takes effect after the person has entered a code made with it. Refuses an
 * unknown person, second_factor_present.
 */
export function offerSecondFactor(tx: Tx, { site, person, secret }: OfferSecondFactor): null {
  const realm = realmOf(site);
  const found = requirePerson(realm, tx, person);
  if (found.totpSecret !== null) throw refusal("second_factor_present");
  realm.change(tx, person, { offeredSecret: secret });
  return null;
}

export interface EnableSecondFactor {
  site: Site;
  person: string;
  code: string;
  /** SHA-256 of each recovery code. */
  recoveryHashes: string[];
  actor: Actor;
}

/**
 * Turns the offered second factor on and ends all sessions. Refuses an unknown person, an author who may not,
 * second_factor_present, second_factor_absent, code_wrong.
 */
export function enableSecondFactor(
  tx: Tx,
  { site, person, code, recoveryHashes, actor }: EnableSecondFactor,
  context: Context,
): null {
  const realm = realmOf(site);
  const { codes } = realm.tables;
  const found = requirePerson(realm, tx, person);
  realm.refuseAuthor(tx, actor, found, true);
  if (found.totpSecret !== null) throw refusal("second_factor_present");
  if (found.offeredSecret === null) throw refusal("second_factor_absent");
  const step = stepOfCode(found.offeredSecret, code, context.now, 0);
  if (step === null) throw refusal("code_wrong");
  const old = realm.rows.listRecoveryCodes(tx, person);
  endSessionsOf(tx, realm, person);
  for (const each of old) tx.delete(codes, each);
  realm.change(tx, person, {
    totpSecret: found.offeredSecret,
    offeredSecret: null,
    totpStep: step,
  });
  for (const hash of recoveryHashes) tx.insert(codes, { person, hash });
  auditChange(tx, realm, actor, "second_factor", found, OFF, ON, context);
  return null;
}

export interface RemoveSecondFactor {
  site: Site;
  person: string;
  actor: Actor;
}

/**
 * Turns the second factor off and ends all sessions. Refuses an unknown person, an author who may not,
 * second_factor_absent.
 */
export function removeSecondFactor(
  tx: Tx,
  { site, person, actor }: RemoveSecondFactor,
  context: Context,
): null {
  const realm = realmOf(site);
  const found = requirePerson(realm, tx, person);
  realm.refuseAuthor(tx, actor, found, true);
  if (found.totpSecret === null) throw refusal("second_factor_absent");
  const codes = realm.rows.listRecoveryCodes(tx, person);
  endSessionsOf(tx, realm, person);
  for (const each of codes) tx.delete(realm.tables.codes, each);
  realm.change(tx, person, { totpSecret: null, offeredSecret: null });
  auditChange(tx, realm, actor, "second_factor", found, ON, OFF, context);
  return null;
}

/** Checks a code of the authenticator or a recovery code. Either works only once. Refuses: code_wrong. */
export function takeCode(tx: Tx, realm: Realm, found: Person, code: string, now: number): void {
  const { key, totpSecret, totpStep } = found;
  if (totpSecret === null) throw refusal("code_wrong");
  const step = stepOfCode(totpSecret, code.replace(/\s/g, ""), now, totpStep);
  if (step !== null) {
    realm.change(tx, key, { totpStep: step });
    return;
  }
  const recovery = tx.row(realm.tables.codes.byKey, key, hashRecoveryCode(code));
  if (!recovery) throw refusal("code_wrong");
  tx.delete(realm.tables.codes, recovery);
}

/** What a person could do in the database that a restore replaced. */
export interface LaterAccess {
  key: string;
  /** Whether the person could not sign in. */
  isOut: boolean;
  /** The role as it was stored there, perhaps by a later version. */
  role: string;
  invitationHash: string | null;
}

export const NO_INVITATION = { invitationHash: null, invitedUntil: null };
const ON: AuditFacts = { secondFactor: "on" };
const OFF: AuditFacts = { secondFactor: "off" };

/** What a person lost after the backup: the changes of its row, and what the audit log says of each. */
export interface LostAccess<Role> {
  changes: { role?: Role; active?: boolean } & Partial<typeof NO_INVITATION>;
  records: { verb: "role" | "invite" | "disable"; before: AuditFacts; after: AuditFacts }[];
}

/**
 * Compares a restored person with what it could do later. Returns null if it has lost nothing. `takesAway`: whether
 * another role takes a right away. `mayEnter`: whether the restored person may use the site.
 */
export function lostAccess<Role extends string>(
  found: { role: Role; invitationHash: string | null },
  later: LaterAccess,
  by: { roles: readonly Role[]; takesAway: (from: Role, to: Role) => boolean; mayEnter: boolean },
): LostAccess<Role> | null {
  const role = by.roles.find((each) => each === later.role) ?? found.role;
  const isLess = by.takesAway(found.role, role);
  // The link was used, replaced or ended.
  const isOver = found.invitationHash !== null && found.invitationHash !== later.invitationHash;
  const isDisabled = later.isOut && by.mayEnter;
  if (!isLess && !isOver && !isDisabled) return null;
  const records: LostAccess<Role>["records"] = [];
  if (isLess) records.push({ verb: "role", before: { role: found.role }, after: { role } });
  if (isOver) records.push({ verb: "invite", before: { link: "open" }, after: { link: "over" } });
  if (isDisabled) {
    records.push({ verb: "disable", before: { active: true }, after: { active: false } });
  }
  const changes = {
    ...(isLess && { role }),
    ...((isOver || isDisabled) && NO_INVITATION),
    ...(isDisabled && { active: false }),
  };
  return { changes, records };
}

/** Ends the sessions of a person, one of them, or all but one. Returns how many. */
export function endSessionsOf(
  tx: Tx,
  { tables, rows }: Realm,
  person: string,
  only: string | null = null,
  except?: string,
): number {
  const ended = rows
    .listSessionsOf(tx, person)
    .filter(({ id }) => (only === null || id === only) && id !== except);
  for (const session of ended) tx.delete(tables.sessions, session);
  return ended.length;
}

/** Forgets the known networks: an intruder may have signed in from one of them. */
export function forgetNetworks(tx: Tx, { tables, rows }: Realm, person: string): void {
  for (const each of rows.listKnownNetworks(tx, person)) tx.delete(tables.networks, each);
}

function auditChange(
  tx: Tx,
  realm: Realm,
  actor: Actor,
  verb: keyof Realm["actions"],
  { key: subject, account }: Person,
  before: AuditFacts | null,
  after: AuditFacts,
  context: Context,
): void {
  const action = realm.actions[verb];
  audit(tx, context, { actor, action, subject, account, before, after });
}
