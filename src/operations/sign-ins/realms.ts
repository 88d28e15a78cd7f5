// What the sign-ins of one site need: the rows of its persons, their sessions, and how the audit log names them.

import type { AuditAction } from "../../domain/administrators/audit.ts";
import type { Site } from "../../domain/sign-ins/sign-ins.ts";
import {
  findAdministrator,
  findInvited,
  PANEL_SIGN_INS,
} from "../../db/administrators/administrators.ts";
import {
  findInvitedMember,
  findMember,
  findMemberByEmail,
  mayUsePortal,
  PORTAL_SIGN_INS,
} from "../../db/members/members.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import type { SignInRows } from "../../db/sign-ins/sign-ins.ts";
import {
  type Administrator,
  administrators,
  panelSignIns,
} from "../../db/tables/administrators.ts";
import { type Member, members, portalSignIns } from "../../db/tables/members.ts";
import type { SignInTables } from "../../db/tables/sign-ins.ts";
import { authorOf } from "../../domain/administrators/administrators.ts";
import { memberAuthor, NO_NEW_ADDRESS } from "../../domain/members/members.ts";
import type { Context } from "../batch/context.ts";
import { queueMail } from "../mails/mails.ts";
import { refusal, type Refusal } from "../../domain/values/error-table.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { requireRole } from "../administrators/acting.ts";
import { requireGranter, requireManager } from "../members/acting.ts";

/** The columns of a person that sign-ins read and change. */
export type Credentials = Pick<
  Administrator,
  | "active"
  | "passwordHash"
  | "invitationHash"
  | "invitedUntil"
  | "totpSecret"
  | "offeredSecret"
  | "totpStep"
  | "signedInAt"
>;

/** A person who signs in, with the key of its row. */
export interface Person extends Credentials {
  key: string;
  role: string;
  /** The person as the author of changes. */
  author: string;
  /** The reseller of a member; null for an administrator. */
  account: number | null;
}

/** Where a sign-in came from. */
interface SignInOrigin {
  address: string;
  userAgent: string;
}

type Verb = "accept" | "password" | "revoke" | "second_factor";

export interface Realm {
  tables: SignInTables;
  rows: SignInRows;
  find(reader: Reader, key: string): Person | undefined;
  /** Finds who signs in with this name. */
  findNamed(reader: Reader, name: string): Person | undefined;
  findInvited(reader: Reader, invitationHash: string): Person | undefined;
  change(tx: Tx, key: string, changes: Partial<Credentials>): void;
  /** Refuses who may not accept an invitation although its link is valid. Refuses: member_email_held. */
  refuseAccepting(reader: Reader, person: Person): void;
  /** Informs the person of a sign-in from a network that was not known. */
  noteNewNetwork(tx: Tx, key: string, from: SignInOrigin, context: Context): void;
  actions: Record<Verb, AuditAction>;
  absent(): Refusal;
  /**
   * Refuses an author who may not change the sign-in of the person: everybody may their own. `gives`: whether the change
   * lets somebody in.
   */
  refuseAuthor(tx: Tx, actor: Actor, person: Person, gives: boolean): void;
}

const administrator = (found: Administrator | undefined): Person | undefined =>
  found && { ...found, key: found.name, author: authorOf(found.name), account: null };

const PANEL: Realm = {
  tables: panelSignIns,
  rows: PANEL_SIGN_INS,
  find: (reader, key) => administrator(findAdministrator(reader, key)),
  findNamed: (reader, name) => administrator(findAdministrator(reader, name)),
  findInvited: (reader, hash) => administrator(findInvited(reader, hash)),
  change: (tx, name, changes) => void tx.update(administrators, { name }, changes),
  refuseAccepting: () => {},
  noteNewNetwork: () => {},
  actions: {
    accept: "administrator.accept",
    password: "administrator.password",
    revoke: "administrator.revoke",
    second_factor: "administrator.second_factor",
  },
  absent: () => refusal("administrator_not_found"),
  refuseAuthor(tx, actor, person) {
    if (!isOwn(actor, person)) requireRole(tx, actor, "owner", "change how administrators sign in");
  },
};

/** A member whose reseller or portal is off cannot sign in. */
const member = (reader: Reader, found: Member | undefined): Person | undefined =>
  found && {
    ...found,
    key: found.id,
    author: memberAuthor(found.id),
    active: mayUsePortal(reader, found),
  };

const PORTAL: Realm = {
  tables: portalSignIns,
  rows: PORTAL_SIGN_INS,
  find: (reader, key) => member(reader, findMember(reader, key)),
  findNamed: (reader, email) => member(reader, findMemberByEmail(reader, email)),
  findInvited: (reader, hash) => member(reader, findInvitedMember(reader, hash)),
  // With a new password, a link to a new address ends: perhaps another asked for it.
  change(tx, id, changes) {
    const isOver = changes.passwordHash !== undefined;
    tx.update(members, { id }, { ...changes, ...(isOver && NO_NEW_ADDRESS) });
  },
  refuseAccepting(reader, { key, passwordHash }) {
    // The invited person has proved the address, and only it may know.
    const { email } = findMember(reader, key)!;
    if (passwordHash === null && findMemberByEmail(reader, email)) {
      throw refusal("member_email_held");
    }
  },
  noteNewNetwork(tx, id, { address, userAgent }, context) {
    const data = { address, userAgent, at: context.now };
    queueMail(tx, { kind: "sign_in", to: { member: findMember(tx, id)! }, data }, context);
  },
  actions: {
    accept: "member.accept",
    password: "member.password",
    revoke: "member.revoke",
    second_factor: "member.second_factor",
  },
  absent: () => refusal("member_not_found"),
  refuseAuthor(tx, actor, person, gives) {
    if (isOwn(actor, person)) return;
    if (gives) requireGranter(tx, actor, findMember(tx, person.key)!);
    else requireManager(tx, actor);
  },
};

/** Returns whether the person is the author. */
function isOwn({ keyId, operator }: Actor, { author }: Person): boolean {
  return keyId === null && operator === author;
}

const REALMS: Record<Site, Realm> = { panel: PANEL, portal: PORTAL };

export function realmOf(site: Site): Realm {
  return REALMS[site];
}

/** Returns the person. Refuses an unknown person. */
export function requirePerson(realm: Realm, reader: Reader, key: string): Person {
  const found = realm.find(reader, key);
  if (!found) throw realm.absent();
  return found;
}
