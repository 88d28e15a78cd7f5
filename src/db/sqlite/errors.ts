// Which errors of SQLite are transient, and which fatal.

import { errorCode } from "../../domain/refusals.ts";

/** A disk or file that cannot be trusted any more. */
const FATAL = /^SQLITE_(IOERR|CORRUPT|NOTADB)/;
/** Nothing was written and a later try may succeed: no disk space (for the WAL's index too), or a lock that another process holds. */
const TRANSIENT = /^SQLITE_(FULL|BUSY|LOCKED|IOERR_SHMSIZE)/;

export function isTransientError(error: unknown): boolean {
  return TRANSIENT.test(errorCode(error));
}

export function isFatalError(error: unknown): boolean {
  return FATAL.test(errorCode(error)) && !isTransientError(error);
}

/** Concerns the whole batch, not the command that met it. */
export function isDatabaseError(error: unknown): boolean {
  return isFatalError(error) || isTransientError(error);
}
