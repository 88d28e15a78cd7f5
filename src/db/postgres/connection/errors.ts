// Classifies errors from PostgreSQL and its connections by what a batch must do.

export type ErrorClass =
  /** The connection or the server is gone, or the server is no longer the primary: try another connection. */
  | "lost"
  /** Another transaction was in the way, or a plan is out of date: run the batch again. */
  | "retry"
  /** No disk space, no memory or too many connections: nothing was written. */
  | "unavailable"
  /** The statement itself failed: a CHECK, a trigger, or a bug of this program. */
  | "refused";

/** Thrown when the server does not accept writes. */
export class NoPrimaryError extends Error {
  override name = "NoPrimaryError";
}

/** Thrown when the database cannot be used. The message follows the database's name, and tells why and what to do. */
export class SchemaError extends Error {
  override name = "SchemaError";
}

/** serialization_failure, deadlock_detected, unique_violation, plan with another result type, lock_not_available. */
const RETRY = new Set(["40001", "40P01", "23505", "0A000", "55P03"]);
/**
 * 08: connection. 57P01 to 57P05: shut down, crashed, not started yet. 25006: read-only. 25P03: the transaction was
 * idle for too long.
 */
const LOST = /^(08...|57P0[1-5]|25006|25P0[13])$/;
/** 53: no resources. 58: system error. 57014: cancelled by an administrator. */
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
 * Returns whether the error ended the session, which leaves the outcome of its COMMIT unknown. For example, a server
 * that cannot write or sync its log (53100, 58030) ends with a PANIC in the COMMIT, but may find the commit in its log
 * when it recovers.
 */
export function endsSession(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === null || /^(08|57P)/.test(state)) return true;
  return /^(FATAL|PANIC)$/.test(severityOf(error));
}

function severityOf(error: unknown): string {
  return error instanceof Error && "severity" in error ? String(error.severity) : "";
}

/** Returns the SQLSTATE of an error; null if the error is not from the server. */
export function sqlStateOf(error: unknown): string | null {
  const state = error instanceof Error && "errno" in error ? String(error.errno) : "";
  return /^[0-9A-Z]{5}$/.test(state) ? state : null;
}

function isConnectionError(error: unknown): boolean {
  if (error instanceof NoPrimaryError) return true;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(ERR_POSTGRES_|ECONN|EPIPE|EMFILE|ENFILE|EADDR|ENOTFOUND|ETIMEDOUT|EHOST|ENET|EAI_|FailedToOpenSocket|ConnectionRefused|DNS_)/.test(
    code,
  );
}
