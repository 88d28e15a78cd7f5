// Sign-ins to the sites: lifetimes of sessions and invitations, and delays after failures.

import { MINUTE_MS, HOUR_MS, DAY_MS } from "../values/spans.ts";

/** The pages that people sign in to. */
export type Site = "panel" | "portal";

interface Lifetimes {
  invitationMs: number;
  /** Lifetime of a link to set a new password. */
  resetMs: number;
  /** A session ends after this time without use. */
  idleMs: number;
  /** A session ends after this time in any case. */
  mostMs: number;
}

export const INVITATION_MS = 30 * MINUTE_MS;
/** The lifetime of an invitation in words. */
export const INVITATION_TIME = `${INVITATION_MS / MINUTE_MS} minutes`;
export const SESSION_IDLE_MS = 30 * MINUTE_MS;
export const SESSION_MOST_MS = 12 * HOUR_MS;

const LIFETIMES: Record<Site, Lifetimes> = {
  panel: {
    invitationMs: INVITATION_MS,
    resetMs: INVITATION_MS,
    idleMs: SESSION_IDLE_MS,
    mostMs: SESSION_MOST_MS,
  },
  portal: {
    invitationMs: 72 * HOUR_MS,
    resetMs: 24 * HOUR_MS,
    idleMs: 12 * HOUR_MS,
    mostMs: 14 * DAY_MS,
  },
};

export function lifetimesOf(site: Site): Lifetimes {
  return LIFETIMES[site];
}

/** Limit for the sessions of a person, and for those that await a code. */
export const SESSIONS_LIMIT = 50;

/**
 * Returns the sessions that end for a further one from `address`: while there are too many, the one used longest ago of
 * the address with the most. So one address cannot end the sessions of others who share the name. `sessions`: those used
 * last first.
 */
export function sessionsToEnd<Session extends { address: string }>(
  sessions: readonly Session[],
  address: string,
): Session[] {
  const left = [...sessions];
  const ended: Session[] = [];
  while (left.length >= SESSIONS_LIMIT) {
    const counts = new Map([[address, 1]]);
    for (const each of left) counts.set(each.address, (counts.get(each.address) ?? 0) + 1);
    const most = Math.max(...left.map((each) => counts.get(each.address)!));
    const at = left.findLastIndex((each) => counts.get(each.address) === most);
    ended.push(...left.splice(at, 1));
  }
  return ended;
}
/** Time limit between the password and the code. */
export const AWAITING_CODE_MS = 5 * MINUTE_MS;
/** Shortest time between two writes of a session's last use. */
export const SEEN_INTERVAL_MS = MINUTE_MS;
/** How long an entered password or code counts for actions that ask for it again. */
export const PROOF_MS = 10 * MINUTE_MS;
/** How long a confirmation is valid after it was shown. */
export const CONFIRMATION_MS = HOUR_MS;
export const USER_AGENT_LIMIT = 200;

export const FAILURE_WINDOW_MS = 15 * MINUTE_MS;
/** Limit for failures from one network in the window, with any names. */
export const FAILURES_OF_NETWORK = 10;
/** Limits for a name on a network from which it has signed in. Only failures of this name on this network count. */
export const FAILURES_OF_KNOWN = { password: 100, code: 10 };
const FAILURES_BEFORE_DELAY = 3;
/** Delays double up to this limit. */
const DELAY_MOST_MS = MINUTE_MS;
/** Limit for wrong passwords and codes in a row in a signed-in session. One more ends the session. None is delayed. */
export const FAILURES_OF_SESSION = 10;

/** How long a network stays known without a sign-in. */
export const KNOWN_MS = 90 * DAY_MS;
export const KNOWN_NETWORKS = 20;

export interface SessionTimes {
  awaitsCode: boolean;
  createdAt: number;
  seenAt: number;
  /** Wrong passwords and codes since the last right one. */
  failures: number;
}

export function isSessionLive(
  site: Site,
  { awaitsCode, createdAt, seenAt, failures }: SessionTimes,
  now: number,
): boolean {
  if (failures > FAILURES_OF_SESSION) return false;
  if (awaitsCode) return now - createdAt < AWAITING_CODE_MS;
  const { idleMs, mostMs } = LIFETIMES[site];
  return now - seenAt < idleMs && now - createdAt < mostMs;
}

/** Failures in the window: how many, and the times of the oldest and of the last one. */
export interface Failures {
  count: number;
  firstAt: number | null;
  lastAt: number | null;
}

export const NO_FAILURES: Failures = { count: 0, firstAt: null, lastAt: null };

/** The step of signing in that is tried. Proofs in a signed-in session are not included: they are never delayed. */
export type SignInStep = "password" | "code" | "invitation";

/** Failures that count against a try. */
export interface CountedFailures {
  /** Failures from the network, with any name. */
  ofNetwork: Failures;
  /** Failures of this step with the name on the network, since its last sign-in there. */
  ofPair: Failures;
  /** Failures of this step with the name on any network, since its last sign-in. */
  ofName: Failures;
  /** Whether the administrator has signed in from the network. */
  isKnown: boolean;
}

/**
 * Returns the milliseconds until the next try is allowed; 0: now. Passwords are delayed per name and network, so that
 * failures on one network do not delay the name on other networks. Codes are delayed per name: whoever tries one has
 * the password.
 */
export function waitAfter(
  step: SignInStep,
  { ofNetwork, ofPair, ofName, isKnown }: CountedFailures,
  now: number,
): number {
  let until: number;
  if (isKnown && step !== "invitation") until = closedUntil(ofPair, FAILURES_OF_KNOWN[step], now);
  else {
    until = closedUntil(ofNetwork, FAILURES_OF_NETWORK, now);
    if (step === "password") until = Math.max(until, delayedUntil(ofPair, now));
    if (step === "code") until = Math.max(until, delayedUntil(ofName, now));
  }
  return Math.max(0, until - now);
}

function closedUntil({ count, firstAt }: Failures, most: number, now: number): number {
  return count >= most ? (firstAt ?? now) + FAILURE_WINDOW_MS : 0;
}

function delayedUntil({ count, lastAt }: Failures, now: number): number {
  const beyond = count - FAILURES_BEFORE_DELAY;
  if (beyond < 0) return 0;
  return (lastAt ?? now) + Math.min(1000 * 2 ** Math.min(beyond, 16), DELAY_MOST_MS);
}

/** Added to the tag of a try with a code. SQL can then tell codes from passwords. */
export const CODE_TAGS = 2 ** 32;

/**
 * Returns 32 bits of a hash of name and step; codes add CODE_TAGS. `proof`: a password or code that a signed-in session
 * was asked for.
 */
export function tagOfName(name: string, step: SignInStep | "proof"): number {
  const text = step === "password" ? name : `${step} ${name}`;
  const tag = Number.parseInt(Bun.SHA256.hash(text, "hex").slice(0, 8), 16);
  return step === "code" ? CODE_TAGS + tag : tag;
}
