// Signing in to a site. A try is written before it is checked, and deleted when it succeeds. So only failures stay,
// and the limit also holds for simultaneous tries and across servers.

import { refusal, Refusal } from "../../domain/values/error-table.ts";
import {
  CODE_TAGS,
  CONFIRMATION_MS,
  FAILURE_WINDOW_MS,
  isSessionLive,
  KNOWN_MS,
  KNOWN_NETWORKS,
  NO_FAILURES,
  sessionsToEnd,
  type SignInStep,
  type Site,
  tagOfName,
  waitAfter,
} from "../../domain/sign-ins/sign-ins.ts";
import type { Tx } from "../../db/port/port.ts";
import { FORGET_CONFIRMATIONS } from "../../db/sign-ins/sign-ins.ts";
import { confirmations, type SignInSession } from "../../db/tables/sign-ins.ts";
import type { Context } from "../batch/context.ts";
import { takeCode } from "./credentials.ts";
import { type Person, type Realm, realmOf } from "./realms.ts";

/**
 * How long a used confirmation is kept, in multiples of CONFIRMATION_MS: longer than it is valid, because the clocks of
 * servers differ.
 */
const KEPT_CONFIRMATIONS = 3;
/** Number of failures of a site that are kept for the panel's list. */
const KEPT_ATTEMPTS = 10_000;

export interface BeginSignIn {
  site: Site;
  step: SignInStep;
  /** The name as it was typed; empty for an invitation. */
  name: string;
  address: string;
  network: string;
  userAgent: string;
}

export interface BegunSignIn {
  /** The number of the try, for the operation that ends it. */
  attempt: number;
  /** Null when nobody with that name can sign in. */
  passwordHash: string | null;
  /** Whether the name has signed in from the network. Such a try is checked before other tries. */
  isKnown: boolean;
}

/** Records a try to sign in, before it is checked. Refuses: sign_in_limited. */
export function beginSignIn(tx: Tx, command: BeginSignIn, { now }: Context): BegunSignIn {
  const { step, name, network } = command;
  const realm = realmOf(command.site);
  const { rows } = realm;
  const nameTag = tagOfName(name, step);
  const found = realm.findNamed(tx, name);
  const since = now - FAILURE_WINDOW_MS;
  const known = found && rows.findKnownNetwork(tx, found.key, network);
  const knownAt = known && known.signedInAt > now - KNOWN_MS ? known.signedInAt : null;
  const failures = {
    ofNetwork: rows.failuresOfNetwork(tx, network, since),
    ofPair: rows.failuresOfPair(tx, nameTag, network, Math.max(since, knownAt ?? 0)),
    // Only codes are delayed by name. For passwords there may be thousands of rows, one from each network of an attack.
    ofName:
      step === "code"
        ? rows.failuresOfName(tx, nameTag, Math.max(since, found?.signedInAt ?? 0))
        : NO_FAILURES,
    isKnown: knownAt !== null,
  };
  const wait = waitAfter(step, failures, now);
  if (wait > 0) {
    throw new Refusal("sign_in_limited", { retryAfterSeconds: Math.ceil(wait / 1000) });
  }
  // Nothing is refused from here on.
  const attempt = insertAttempt(tx, realm, { ...command, nameTag }, found, now);
  const passwordHash = found?.active ? found.passwordHash : null;
  return { attempt, passwordHash, isKnown: failures.isKnown };
}

/** Where a request of a visitor comes from. */
export type VisitorOrigin = Pick<BeginSignIn, "address" | "network" | "userAgent">;

/** Counts a request of a visitor like a try to sign in, so that a network can make few. Refuses: sign_in_limited. */
export function countTry(tx: Tx, from: VisitorOrigin, context: Context): void {
  beginSignIn(tx, { site: "portal", step: "invitation", name: "", ...from }, context);
}

export interface BeginProof {
  site: Site;
  /** The signed-in session that must prove itself again. */
  id: string;
  address: string;
  userAgent: string;
}

/**
 * Records that a signed-in session tries to prove itself again, before the try is checked. Other tries never delay it.
 * Its own wrong passwords and codes end the session. Refuses: sign_in_refused.
 */
export function beginProof(tx: Tx, command: BeginProof, { now }: Context): BegunSignIn {
  const { id, address, userAgent } = command;
  const realm = realmOf(command.site);
  const session = realm.rows.findSession(tx, id);
  if (!session || session.awaitsCode || !isSessionLive(command.site, session, now)) {
    throw refusal("sign_in_refused");
  }
  const found = realm.find(tx, session.person);
  if (!found?.active) throw refusal("sign_in_refused");
  // Nothing is refused from here on.
  const used = tx.update(realm.tables.sessions, session, { failures: session.failures + 1 });
  const nameTag = tagOfName(found.key, "proof");
  // Without a network: failures count for the session only.
  const tried = { nameTag, address, network: "", userAgent };
  const attempt = insertAttempt(tx, realm, tried, found, now);
  // One failure too many ends the session, and this try is not checked.
  const passwordHash = isSessionLive(command.site, used, now) ? found.passwordHash : null;
  return { attempt, passwordHash, isKnown: true };
}

function insertAttempt(
  tx: Tx,
  { tables, rows }: Realm,
  tried: { nameTag: number; address: string; network: string; userAgent: string },
  found: Person | undefined,
  now: number,
): number {
  const [newest] = rows.listAttempts(tx, Number.MAX_SAFE_INTEGER, 1);
  if (newest && newest.seq > KEPT_ATTEMPTS) {
    const before = newest.seq - KEPT_ATTEMPTS;
    const since = now - FAILURE_WINDOW_MS;
    tx.run(rows.FORGET_ATTEMPTS, { before, firstCodeTag: CODE_TAGS, since });
  }
  const { nameTag, address, network, userAgent } = tried;
  const person = found?.key ?? null;
  return tx.insert(tables.attempts, { at: now, address, network, nameTag, person, userAgent }).seq;
}

export interface NewSession {
  id: string;
  /** SHA-256 of its secret. */
  hash: string;
  address: string;
  userAgent: string;
}

export interface OpenSession {
  site: Site;
  attempt: number | null;
  /** Key of the person. */
  person: string;
  /** The hash that the password matched. */
  passwordHash: string;
  session: NewSession;
  /** The network of the sign-in; absent: it does not become known. */
  network?: string;
  /** Whether the session that this one replaces had passed the second factor. */
  hasProvedCode?: boolean;
}

/** Opens a session after the password was right. Returns whether it awaits a code. Refuses: sign_in_refused. */
export function openSession(tx: Tx, command: OpenSession, context: Context): boolean {
  const { now } = context;
  const { attempt, passwordHash, session, network, hasProvedCode = false } = command;
  const realm = realmOf(command.site);
  const found = realm.find(tx, command.person);
  // The password may have been changed while it was checked.
  if (!found?.active || found.passwordHash !== passwordHash) throw refusal("sign_in_refused");
  const awaitsCode = found.totpSecret !== null && !hasProvedCode;
  const all = realm.rows.listSessionsOf(tx, found.key);
  const isLive = (each: SignInSession) => isSessionLive(command.site, each, now);
  // A password alone, without the code, ends no session that has passed the code.
  const alike = all.filter((each) => isLive(each) && each.awaitsCode === awaitsCode);
  const ended = [...all.filter((each) => !isLive(each)), ...sessionsToEnd(alike, session.address)];
  for (const each of ended) tx.delete(realm.tables.sessions, each);
  end(tx, realm, attempt);
  if (!awaitsCode) noteSignedIn(tx, realm, found, { session, network }, context);
  insert(tx, realm, session, found.key, awaitsCode, now);
  return awaitsCode;
}

export interface PassCode {
  site: Site;
  attempt: number;
  /** The session that awaits the code. */
  id: string;
  code: string;
  session: NewSession;
  network?: string;
}

/** Replaces a session that awaited the second factor with a new one. Refuses: sign_in_refused, code_wrong. */
export function passCode(tx: Tx, command: PassCode, context: Context): null {
  const { now } = context;
  const { attempt, id, code, session, network } = command;
  const realm = realmOf(command.site);
  const awaiting = realm.rows.findSession(tx, id);
  if (!awaiting?.awaitsCode || !isSessionLive(command.site, awaiting, now))
    throw refusal("sign_in_refused");
  const found = realm.find(tx, awaiting.person);
  if (!found?.active) throw refusal("sign_in_refused");
  takeCode(tx, realm, found, code, now);
  noteSignedIn(tx, realm, found, { session, network }, context);
  end(tx, realm, attempt);
  tx.delete(realm.tables.sessions, awaiting);
  insert(tx, realm, session, found.key, false, now);
  return null;
}

export interface ProveAgain {
  site: Site;
  attempt: number;
  id: string;
  /** A code, or the hash that the password matched. */
  proof: { code: string } | { passwordHash: string };
}

/** Records a new proof. No further proof is required for a while. Refuses: sign_in_refused, code_wrong. */
export function proveAgain(tx: Tx, command: ProveAgain, { now }: Context): null {
  const { attempt, id, proof } = command;
  const realm = realmOf(command.site);
  const session = realm.rows.findSession(tx, id);
  if (!session || session.awaitsCode || !isSessionLive(command.site, session, now)) {
    throw refusal("sign_in_refused");
  }
  const found = realm.find(tx, session.person);
  if (!found?.active) throw refusal("sign_in_refused");
  if ("code" in proof) takeCode(tx, realm, found, proof.code, now);
  else if (found.passwordHash !== proof.passwordHash) throw refusal("sign_in_refused");
  end(tx, realm, attempt);
  tx.update(realm.tables.sessions, session, { provedAt: now, seenAt: now, failures: 0 });
  return null;
}

export interface SessionOf {
  site: Site;
  id: string;
}

export function noteSession(tx: Tx, { site, id }: SessionOf, { now }: Context): null {
  const { rows, tables } = realmOf(site);
  const session = rows.findSession(tx, id);
  if (session) tx.update(tables.sessions, session, { seenAt: now });
  return null;
}

/** Signs out. */
export function endSession(tx: Tx, { site, id }: SessionOf): null {
  const { rows, tables } = realmOf(site);
  const session = rows.findSession(tx, id);
  if (session) tx.delete(tables.sessions, session);
  return null;
}

export interface TakeConfirmation {
  id: string;
}

/** Uses a confirmation. Returns false if it was used before. */
export function takeConfirmation(tx: Tx, { id }: TakeConfirmation, { now }: Context): boolean {
  if (tx.row(confirmations.byKey, id)) return false;
  tx.run(FORGET_CONFIRMATIONS, { before: now - KEPT_CONFIRMATIONS * CONFIRMATION_MS });
  tx.insert(confirmations, { id, at: now });
  return true;
}

export interface EndAttempt {
  site: Site;
  attempt: number;
}

/** Ends a try that succeeded without opening a session. */
export function endAttempt(tx: Tx, { site, attempt }: EndAttempt): null {
  end(tx, realmOf(site), attempt);
  return null;
}

/**
 * Records a sign-in: from now on, tries from other networks do not delay tries from this one. Forgets the networks used
 * longest ago. The person is informed of a network that is not known, except at the first sign-in.
 */
function noteSignedIn(
  tx: Tx,
  realm: Realm,
  found: Person,
  { session, network }: { session: NewSession; network: string | undefined },
  context: Context,
): void {
  const { rows, tables } = realm;
  const { now } = context;
  const { key: person } = found;
  realm.change(tx, person, { signedInAt: now });
  if (network === undefined) return;
  const known = rows.findKnownNetwork(tx, person, network);
  if (!known && found.signedInAt !== null) realm.noteNewNetwork(tx, person, session, context);
  const others = rows.listKnownNetworks(tx, person).filter((each) => each.network !== network);
  others.forEach((each, index) => {
    const isOld = each.signedInAt <= now - KNOWN_MS;
    if (isOld || index >= KNOWN_NETWORKS - 1) tx.delete(tables.networks, each);
  });
  if (known) tx.update(tables.networks, known, { signedInAt: now });
  else tx.insert(tables.networks, { person, network, signedInAt: now });
}

function end(tx: Tx, { tables }: Realm, attempt: number | null): void {
  const found = attempt === null ? undefined : tx.row(tables.attempts.byKey, attempt);
  if (found) tx.delete(tables.attempts, found);
}

function insert(
  tx: Tx,
  { tables }: Realm,
  session: NewSession,
  person: string,
  awaitsCode: boolean,
  now: number,
): void {
  const times = { createdAt: now, seenAt: now, provedAt: now };
  tx.insert(tables.sessions, { ...session, person, awaitsCode, ...times });
}
