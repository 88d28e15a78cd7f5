// Classifies errors of SQLite as transient or fatal.

import { errorCode } from "../../domain/values/error-table.ts";

/** Codes of errors after which the disk or the file can no longer be trusted. */
const FATAL = /^SQLITE_(IOERR|CORRUPT|NOTADB)/;
/**
 * Codes of errors after which nothing was written and a later try may succeed: no disk space (also for the WAL's
 * index), or another process holds a lock.
 */
const TRANSIENT = /^SQLITE_(FULL|BUSY|LOCKED|IOERR_SHMSIZE)/;

export function isTransientError(error: unknown): boolean {
  return TRANSIENT.test(errorCode(error));
}

export function isFatalError(error: unknown): boolean {
  return FATAL.test(errorCode(error)) && !isTransientError(error);
}

/** Returns whether an error concerns the whole batch, not just the command that met it. */
export function isDatabaseError(error: unknown): boolean {
  return isFatalError(error) || isTransientError(error);
}
