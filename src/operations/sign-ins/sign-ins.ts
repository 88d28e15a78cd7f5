// Signing in to the panel. A try is written before it is checked, and deleted when it succeeds. So only failures stay,
// and the limit also holds for simultaneous tries and across servers.

import { refusal, Refusal } from "../../domain/values/error-table.ts";
import {
  CODE_TAGS,
  CONFIRMATION_MS,
  FAILURE_WINDOW_MS,
  isSessionLive,
  KNOWN_MS,
  KNOWN_NETWORKS,
  type SignInStep,
  tagOfName,
  waitAfter,
} from "../../domain/sign-ins/sign-ins.ts";
import {
  type Administrator,
  administrators,
  confirmations,
  knownNetworks,
  panelSessions,
  signInAttempts,
} from "../../db/tables/administrators.ts";
import {
  findAdministrator,
  findSession,
  listSessionsOf,
} from "../../db/administrators/administrators.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  failuresOfName,
  failuresOfNetwork,
  failuresOfPair,
  findKnownNetwork,
  FORGET_ATTEMPTS,
  FORGET_CONFIRMATIONS,
  listKnownNetworks,
  listSignInAttempts,
} from "../../db/sign-ins/sign-ins.ts";
import { takeCode } from "../administrators/administrators.ts";
import type { Context } from "../batch/context.ts";

/**
 * How long a used confirmation is kept, in multiples of CONFIRMATION_MS: longer than it is valid, because the clocks of
 * servers differ.
 */
const KEPT_CONFIRMATIONS = 3;
/** Number of failures that are kept for the panel's list. */
const KEPT_ATTEMPTS = 10_000;

export interface BeginSignIn {
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
  const nameTag = tagOfName(name, step);
  const found = findAdministrator(tx, name);
  const since = now - FAILURE_WINDOW_MS;
  const known = findKnownNetwork(tx, name, network);
  const knownAt = known && known.signedInAt > now - KNOWN_MS ? known.signedInAt : null;
  const failures = {
    ofNetwork: failuresOfNetwork(tx, network, since),
    ofPair: failuresOfPair(tx, nameTag, network, Math.max(since, knownAt ?? 0)),
    ofName: failuresOfName(tx, nameTag, Math.max(since, found?.signedInAt ?? 0)),
    isKnown: knownAt !== null,
  };
  const wait = waitAfter(step, failures, now);
  if (wait > 0) {
    throw new Refusal("sign_in_limited", { retryAfterSeconds: Math.ceil(wait / 1000) });
  }
  // Nothing is refused from here on.
  const attempt = insertAttempt(tx, { ...command, nameTag }, found, now);
  const passwordHash = found?.active ? found.passwordHash : null;
  return { attempt, passwordHash, isKnown: failures.isKnown };
}

export interface BeginProof {
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
  const session = findSession(tx, id);
  if (!session || session.awaitsCode || !isSessionLive(session, now)) {
    throw refusal("sign_in_refused");
  }
  const found = findAdministrator(tx, session.administrator);
  if (!found?.active) throw refusal("sign_in_refused");
  // Nothing is refused from here on.
  const tried = tx.update(panelSessions, session, { failures: session.failures + 1 });
  const nameTag = tagOfName(found.name, "proof");
  // Without a network: failures count for the session only.
  const attempt = insertAttempt(tx, { nameTag, address, network: "", userAgent }, found, now);
  // One failure too many ends the session, and this try is not checked.
  const passwordHash = isSessionLive(tried, now) ? found.passwordHash : null;
  return { attempt, passwordHash, isKnown: true };
}

function insertAttempt(
  tx: Tx,
  tried: { nameTag: number; address: string; network: string; userAgent: string },
  found: Administrator | undefined,
  now: number,
): number {
  const [newest] = listSignInAttempts(tx, Number.MAX_SAFE_INTEGER, 1);
  if (newest && newest.seq > KEPT_ATTEMPTS) {
    const before = newest.seq - KEPT_ATTEMPTS;
    tx.run(FORGET_ATTEMPTS, { before, firstCodeTag: CODE_TAGS, since: now - FAILURE_WINDOW_MS });
  }
  const { nameTag, address, network, userAgent } = tried;
  const administrator = found?.name ?? null;
  const row = { at: now, address, network, nameTag, administrator, userAgent };
  return tx.insert(signInAttempts, row).seq;
}

export interface NewSession {
  id: string;
  /** SHA-256 of its secret. */
  hash: string;
  address: string;
  userAgent: string;
}

export interface OpenSession {
  attempt: number | null;
  name: string;
  /** The hash that the password matched. */
  passwordHash: string;
  session: NewSession;
  /** The network of the sign-in; absent: it does not become known. */
  network?: string;
  /** Whether the session that this one replaces had passed the second factor. */
  hasProvedCode?: boolean;
}

/** Opens a session after the password was right. Returns whether it awaits a code. Refuses: sign_in_refused. */
export function openSession(
  tx: Tx,
  { attempt, name, passwordHash, session, network, hasProvedCode = false }: OpenSession,
  { now }: Context,
): boolean {
  const found = findAdministrator(tx, name);
  // The password may have been changed while it was checked.
  if (!found?.active || found.passwordHash !== passwordHash) throw refusal("sign_in_refused");
  const awaitsCode = found.totpSecret !== null && !hasProvedCode;
  const dead = listSessionsOf(tx, name).filter((each) => !isSessionLive(each, now));
  for (const each of dead) tx.delete(panelSessions, each);
  end(tx, attempt);
  if (!awaitsCode) noteSignedIn(tx, found, network, now);
  insert(tx, session, name, awaitsCode, now);
  return awaitsCode;
}

export interface PassCode {
  attempt: number;
  /** The session that awaits the code. */
  id: string;
  code: string;
  session: NewSession;
  network?: string;
}

/** Replaces a session that awaited the second factor with a new one. Refuses: sign_in_refused, code_wrong. */
export function passCode(tx: Tx, command: PassCode, { now }: Context): null {
  const { attempt, id, code, session, network } = command;
  const awaiting = findSession(tx, id);
  if (!awaiting?.awaitsCode || !isSessionLive(awaiting, now)) throw refusal("sign_in_refused");
  const found = findAdministrator(tx, awaiting.administrator);
  if (!found?.active) throw refusal("sign_in_refused");
  takeCode(tx, found, code, now);
  noteSignedIn(tx, found, network, now);
  end(tx, attempt);
  tx.delete(panelSessions, awaiting);
  insert(tx, session, found.name, false, now);
  return null;
}

export interface ProveAgain {
  attempt: number;
  id: string;
  /** A code, or the hash that the password matched. */
  proof: { code: string } | { passwordHash: string };
}

/** Records a new proof. No further proof is required for a while. Refuses: sign_in_refused, code_wrong. */
export function proveAgain(tx: Tx, { attempt, id, proof }: ProveAgain, { now }: Context): null {
  const session = findSession(tx, id);
  if (!session || session.awaitsCode || !isSessionLive(session, now)) {
    throw refusal("sign_in_refused");
  }
  const found = findAdministrator(tx, session.administrator);
  if (!found?.active) throw refusal("sign_in_refused");
  if ("code" in proof) takeCode(tx, found, proof.code, now);
  else if (found.passwordHash !== proof.passwordHash) throw refusal("sign_in_refused");
  end(tx, attempt);
  tx.update(panelSessions, session, { provedAt: now, seenAt: now, failures: 0 });
  return null;
}

export interface SessionOf {
  id: string;
}

export function noteSession(tx: Tx, { id }: SessionOf, { now }: Context): null {
  const session = findSession(tx, id);
  if (session) tx.update(panelSessions, session, { seenAt: now });
  return null;
}

/** Signs out. */
export function endSession(tx: Tx, { id }: SessionOf): null {
  const session = findSession(tx, id);
  if (session) tx.delete(panelSessions, session);
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
  attempt: number;
}

/** Ends a try that succeeded without opening a session. */
export function endAttempt(tx: Tx, { attempt }: EndAttempt): null {
  end(tx, attempt);
  return null;
}

/**
 * Records a sign-in: from now on, tries from other networks do not delay tries from this one. Forgets the networks used
 * longest ago.
 */
function noteSignedIn(
  tx: Tx,
  administrator: Administrator,
  network: string | undefined,
  now: number,
): void {
  tx.update(administrators, administrator, { signedInAt: now });
  if (network === undefined) return;
  const { name } = administrator;
  const known = findKnownNetwork(tx, name, network);
  const others = listKnownNetworks(tx, name).filter((each) => each.network !== network);
  others.forEach((each, index) => {
    const isOld = each.signedInAt <= now - KNOWN_MS;
    if (isOld || index >= KNOWN_NETWORKS - 1) tx.delete(knownNetworks, each);
  });
  if (known) tx.update(knownNetworks, known, { signedInAt: now });
  else tx.insert(knownNetworks, { administrator: name, network, signedInAt: now });
}

function end(tx: Tx, attempt: number | null): void {
  const found = attempt === null ? undefined : tx.row(signInAttempts.byKey, attempt);
  if (found) tx.delete(signInAttempts, found);
}

function insert(tx: Tx, session: NewSession, name: string, awaitsCode: boolean, now: number): void {
  tx.insert(panelSessions, {
    ...session,
    administrator: name,
    awaitsCode,
    createdAt: now,
    seenAt: now,
    provedAt: now,
  });
}
