// Turns errors of opening the database into a sentence for the operator, without user or password.

import { AddressError } from "./address.ts";
import { NoPrimaryError, sqlStateOf } from "./errors.ts";
import { SchemaError } from "../schema/migrate.ts";

/** A database that cannot be opened. The message is one sentence for the operator: what is wrong, what to do. */
export class DatabaseOpenError extends Error {
  override name = "DatabaseOpenError";
}

/** Foreseeable PostgreSQL errors, by SQLSTATE. */
const BY_STATE: Record<string, string> = {
  "28000": "refuses the user: check the user of --database and pg_hba.conf",
  "28P01": "refuses the password: check the user and the password of --database",
  "3D000": "does not exist: create the database, or correct its name in --database",
  "53300": "has no connection left: raise max_connections",
  "57P03": "is starting or stopping: try again",
};

/** Foreseeable connection errors, by a pattern of their code. */
const BY_CODE: readonly (readonly [RegExp, string])[] = [
  [/TLS_NOT_AVAILABLE/, "does not offer TLS: turn ssl on there, or use another sslmode"],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|TLS/,
    "has a certificate that is not trusted: check sslrootcert and the host's name",
  ],
  [
    /^(ERR_POSTGRES_|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOST|ENET|EAI_)/,
    "cannot be reached: start it, or correct its host and port in --database",
  ],
];

/** Returns undefined for an unforeseen error. `name`: the database's name, without user and password. */
export function databaseOpenErrorOf(error: unknown, name: string): DatabaseOpenError | undefined {
  if (error instanceof DatabaseOpenError) return error;
  if (error instanceof AddressError) {
    return new DatabaseOpenError(`the address of the database (--database) ${error.message}`);
  }
  if (error instanceof SchemaError) return new DatabaseOpenError(`${name} ${error.message}`);
  if (error instanceof NoPrimaryError) {
    return new DatabaseOpenError(`${name} takes no writes: ${error.message}`);
  }
  if (sqlStateOf(error) === "42501") {
    // PostgreSQL's message names only the object for which the right is missing.
    const [what] = (error as Error).message.split("\n");
    return new DatabaseOpenError(
      `${name} denies the user a right that it needs (${what}): apply postgres-role.sql (in /usr/share/reseller or deploy) again as the owner of the tables, or, to make or upgrade tables, name their owner in --database`,
    );
  }
  const why = reasonOf(error);
  return why === undefined ? undefined : new DatabaseOpenError(`${name} ${why} (${codeOf(error)})`);
}

function reasonOf(error: unknown): string | undefined {
  const state = sqlStateOf(error);
  if (state !== null) return BY_STATE[state];
  const code = codeOf(error);
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1];
}

function codeOf(error: unknown): string {
  return sqlStateOf(error) ?? (error instanceof Error && "code" in error ? String(error.code) : "");
}
