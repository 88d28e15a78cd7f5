// Turns errors of opening a database into a sentence for the operator.

import { errorCode } from "../../domain/values/error-table.ts";

/** Thrown for a database that must not be opened. The message tells the operator what is wrong and what to do. */
export class OpenError extends Error {
  override name = "OpenError";
}

/** Messages for expected errors of a file, when opening it or later, by the prefix of SQLite's error code. */
const OPEN_ERRORS: Record<string, (path: string) => string> = {
  SQLITE_NOTADB: (path) => `${path} is damaged or not a database: restore a backup`,
  SQLITE_CORRUPT: (path) => `${path} is damaged or not a database: restore a backup`,
  SQLITE_IOERR: (path) =>
    `the disk that holds ${path} is failing: see the system log, then restore a backup`,
  SQLITE_CANTOPEN: (path) => notWritable(path),
  SQLITE_READONLY: (path) => notWritable(path),
  SQLITE_PERM: (path) => notWritable(path),
  SQLITE_BUSY: (path) => `${path} is locked: nothing was changed, try again`,
  SQLITE_LOCKED: (path) => `${path} is locked: nothing was changed, try again`,
  SQLITE_FULL: (path) =>
    `the disk that holds ${path} is full: nothing was changed, free some space first`,
};

/** Returns the OpenError for an error of SQLite; undefined for any other error. */
export function openErrorOf(error: unknown, path: string): OpenError | undefined {
  if (error instanceof OpenError) return error;
  const code = errorCode(error);
  const known = Object.keys(OPEN_ERRORS).find((prefix) => code.startsWith(prefix));
  return known === undefined ? undefined : new OpenError(OPEN_ERRORS[known]!(path));
}

function notWritable(path: string): string {
  return `${path} cannot be opened for writing: check the owner and permissions of the file and its folder`;
}
