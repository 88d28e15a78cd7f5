// What an error of PostgreSQL or of its connection means to a batch.

export type ErrorClass =
  /** The connection or the server is gone, or it is no primary any more: another connection may do. */
  | "lost"
  /** Another transaction was in the way, or a plan is out of date: the same again. */
  | "retry"
  /** No room, no memory, too many connections: nothing was written. */
  | "unavailable"
  /** The statement itself: a CHECK, a trigger, a fault of ours. */
  | "refused";

/** A server that is not, or not any more, one to write to. */
export class NoPrimaryError extends Error {
  override name = "NoPrimaryError";
}

/** serialization_failure, deadlock_detected, unique_violation, a plan whose result changed, lock_not_available */
const RETRY = new Set(["40001", "40P01", "23505", "0A000", "55P03"]);
/** 08: connection. 57P01 to 03: shut down, crashed, not up yet. 25006: read-only. 57014: cancelled by an administrator. */
const LOST = /^(08...|57P0[1-5]|25006|25P0[13])$/;
const UNAVAILABLE = /^(53...|58...|57014)$/;

export function errorClassOf(error: unknown): ErrorClass {
  const state = sqlStateOf(error);
  if (state === null) return isConnectionError(error) ? "lost" : "refused";
  if (severityOf(error) === "PANIC") return "lost";
  if (RETRY.has(state)) return "retry";
  if (LOST.test(state)) return "lost";
  return UNAVAILABLE.test(state) ? "unavailable" : "refused";
}

/**
 * Whether the session ended with the error, so that the outcome of its COMMIT is not known. A server that cannot write or
 * sync its log (53100, 58030) ends by a PANIC in the COMMIT, and may find the commit in its log when it recovers.
 */
export function endsSession(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === null || /^(08|57P)/.test(state)) return true;
  return /^(FATAL|PANIC)$/.test(severityOf(error));
}

function severityOf(error: unknown): string {
  return error instanceof Error && "severity" in error ? String(error.severity) : "";
}

/** Null for an error that is not the server's. */
export function sqlStateOf(error: unknown): string | null {
  const state = error instanceof Error && "errno" in error ? String(error.errno) : "";
  return /^[0-9A-Z]{5}$/.test(state) ? state : null;
}

function isConnectionError(error: unknown): boolean {
  if (error instanceof NoPrimaryError) return true;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(ERR_POSTGRES_|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOST|ENET|EAI_|FailedToOpenSocket|ConnectionRefused|DNS_)/.test(
    code,
  );
}
