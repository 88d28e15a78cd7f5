// Signing in to the panel: how long sessions and invitations last, and how failures slow down further tries.

export const INVITATION_MS = 30 * 60_000;
export const SESSION_IDLE_MS = 30 * 60_000;
export const SESSION_MOST_MS = 12 * 60 * 60_000;
/** Between the password and the code. */
export const AWAITING_CODE_MS = 5 * 60_000;
/** A session's last use is written this often. */
export const SEEN_INTERVAL_MS = 60_000;
/** How long a password or a code counts for what asks for it again. */
export const PROOF_MS = 10 * 60_000;
/** How long a confirmation that was shown can be given, and is remembered once it was. */
export const CONFIRMATION_MS = 60 * 60_000;
export const USER_AGENT_LIMIT = 200;

export const FAILURE_WINDOW_MS = 15 * 60_000;
/** Of one address in the window. */
export const FAILURES_OF_ADDRESS = 10;
/** Of one name, before the first delay. */
const FAILURES_BEFORE_DELAY = 3;
/** A delay doubles up to this: nobody is locked out for good by what others try. */
const DELAY_MOST_MS = 60_000;

export interface SessionTimes {
  awaitsCode: boolean;
  createdAt: number;
  seenAt: number;
}

export function isSessionLive(
  { awaitsCode, createdAt, seenAt }: SessionTimes,
  now: number,
): boolean {
  if (awaitsCode) return now - createdAt < AWAITING_CODE_MS;
  return now - seenAt < SESSION_IDLE_MS && now - createdAt < SESSION_MOST_MS;
}

/** Failures in the window, and the times of the last one, or of the oldest where that decides. */
export interface Failures {
  count: number;
  firstAt: number | null;
  lastAt: number | null;
}

/** How long the next try must wait, in milliseconds; 0: it may be now. */
export function waitAfter(ofNetwork: Failures, ofName: Failures, now: number): number {
  let until = 0;
  if (ofNetwork.count >= FAILURES_OF_ADDRESS)
    until = (ofNetwork.firstAt ?? now) + FAILURE_WINDOW_MS;
  const beyond = ofName.count - FAILURES_BEFORE_DELAY;
  if (beyond >= 0) {
    const delay = Math.min(1000 * 2 ** Math.min(beyond, 16), DELAY_MOST_MS);
    until = Math.max(until, (ofName.lastAt ?? now) + delay);
  }
  return Math.max(0, until - now);
}

/** 32 bits of a name's hash. */
export function tagOfName(name: string): number {
  return Number.parseInt(Bun.SHA256.hash(name, "hex").slice(0, 8), 16);
}
