// Signing in to the panel. A try is written before it is judged, and deleted when it succeeds: what stays are the failures,
// and the limit holds for tries at the same time and at several servers.

import { refusal, Refusal } from "../domain/refusals.ts";
import {
  CONFIRMATION_MS,
  FAILURE_WINDOW_MS,
  isSessionLive,
  tagOfName,
  waitAfter,
} from "../domain/sign-ins.ts";
import { findAdministrator, findSession, listSessionsOf } from "../db/administrators.ts";
import type { Tx } from "../db/port.ts";
import {
  failuresOfName,
  failuresOfNetwork,
  FORGET_ATTEMPTS,
  FORGET_CONFIRMATIONS,
  listSignInAttempts,
} from "../db/sign-ins.ts";
import { administrators, confirmations, panelSessions, signInAttempts } from "../db/tables.ts";
import { takeCode } from "./administrators.ts";
import type { Context } from "./context.ts";

/** As long as one can be given, and some more: clocks of servers differ. */
const KEPT_CONFIRMATIONS = 3;
/** Failures that are kept for the page that lists them. */
const KEPT_ATTEMPTS = 10_000;

export interface BeginSignIn {
  /** As it was typed; empty for an invitation. */
  name: string;
  address: string;
  network: string;
  userAgent: string;
}

export interface BegunSignIn {
  /** Its number: for the operation that ends it. */
  attempt: number;
  /** Null where nobody with that name can sign in. */
  passwordHash: string | null;
}

/** Refuses: sign_in_limited. */
export function beginSignIn(tx: Tx, command: BeginSignIn, { now }: Context): BegunSignIn {
  const { name, address, network, userAgent } = command;
  const nameTag = tagOfName(name);
  const found = findAdministrator(tx, name);
  const since = now - FAILURE_WINDOW_MS;
  const ofNetwork = failuresOfNetwork(tx, network, since);
  const ofName = failuresOfName(tx, nameTag, Math.max(since, found?.signedInAt ?? 0));
  const wait = waitAfter(ofNetwork, name === "" ? { ...ofName, count: 0 } : ofName, now);
  if (wait > 0) {
    throw new Refusal("sign_in_limited", { retryAfterSeconds: Math.ceil(wait / 1000) });
  }
  const [newest] = listSignInAttempts(tx, Number.MAX_SAFE_INTEGER, 1);
  // Nothing is refused from here on.
  if (newest && newest.seq > KEPT_ATTEMPTS) {
    tx.run(FORGET_ATTEMPTS, { before: newest.seq - KEPT_ATTEMPTS });
  }
  const { seq } = tx.insert(signInAttempts, {
    at: now,
    address,
    network,
    nameTag,
    administrator: found?.name ?? null,
    userAgent,
  });
  return { attempt: seq, passwordHash: found?.active ? found.passwordHash : null };
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
  /** The hash that the password was right for. */
  passwordHash: string;
  session: NewSession;
  /** The session that this one takes the place of had passed the second factor. */
  hasProvedCode?: boolean;
}

/** After the password. Returns whether a code is awaited. Refuses: sign_in_refused. */
export function openSession(
  tx: Tx,
  { attempt, name, passwordHash, session, hasProvedCode = false }: OpenSession,
  { now }: Context,
): boolean {
  const found = findAdministrator(tx, name);
  // It may have changed while the password was hashed.
  if (!found?.active || found.passwordHash !== passwordHash) throw refusal("sign_in_refused");
  const awaitsCode = found.totpSecret !== null && !hasProvedCode;
  const dead = listSessionsOf(tx, name).filter((each) => !isSessionLive(each, now));
  for (const each of dead) tx.delete(panelSessions, each);
  end(tx, attempt);
  if (!awaitsCode) tx.update(administrators, found, { signedInAt: now });
  insert(tx, session, name, awaitsCode, now);
  return awaitsCode;
}

export interface PassCode {
  attempt: number;
  /** The session that awaits it. */
  id: string;
  code: string;
  session: NewSession;
}

/** After the second factor: a new session takes the place of the one that awaited it. Refuses: sign_in_refused, code_wrong. */
export function passCode(tx: Tx, { attempt, id, code, session }: PassCode, { now }: Context): null {
  const awaiting = findSession(tx, id);
  if (!awaiting?.awaitsCode || !isSessionLive(awaiting, now)) throw refusal("sign_in_refused");
  const found = findAdministrator(tx, awaiting.administrator);
  if (!found?.active) throw refusal("sign_in_refused");
  takeCode(tx, found, code, now);
  tx.update(administrators, found, { signedInAt: now });
  end(tx, attempt);
  tx.delete(panelSessions, awaiting);
  insert(tx, session, found.name, false, now);
  return null;
}

export interface ProveAgain {
  attempt: number;
  id: string;
  /** A code, or the hash that the password was right for. */
  proof: { code: string } | { passwordHash: string };
}

/** What asks for a proof again is free for a while. Refuses: sign_in_refused, code_wrong. */
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
  tx.update(panelSessions, session, { provedAt: now, seenAt: now });
  return null;
}

export interface SessionOf {
  id: string;
}

/** Notes that a session is in use. */
export function noteSession(tx: Tx, { id }: SessionOf, { now }: Context): null {
  const session = findSession(tx, id);
  if (session) tx.update(panelSessions, session, { seenAt: now });
  return null;
}

/** Signing out. */
export function endSession(tx: Tx, { id }: SessionOf): null {
  const session = findSession(tx, id);
  if (session) tx.delete(panelSessions, session);
  return null;
}

export interface TakeConfirmation {
  id: string;
}

/** Whether it was not taken before. */
export function takeConfirmation(tx: Tx, { id }: TakeConfirmation, { now }: Context): boolean {
  if (tx.row(confirmations.byKey, id)) return false;
  tx.run(FORGET_CONFIRMATIONS, { before: now - KEPT_CONFIRMATIONS * CONFIRMATION_MS });
  tx.insert(confirmations, { id, at: now });
  return true;
}

export interface EndAttempt {
  attempt: number;
}

/** A try that succeeded without opening a session. */
export function endAttempt(tx: Tx, { attempt }: EndAttempt): null {
  end(tx, attempt);
  return null;
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
