// Turns errors of opening the database into a sentence for the operator, without user or password.

import { AddressError } from "./address.ts";
import { NoPrimaryError, SchemaError, sqlStateOf } from "./errors.ts";

/** Thrown when a database cannot be opened. The message tells the operator what is wrong and what to do. */
export class DatabaseOpenError extends Error {
  override name = "DatabaseOpenError";
}

/** Messages for expected errors of PostgreSQL, by SQLSTATE. */
const BY_STATE: Record<string, string> = {
  "28000": "rejects the user: check the user in --database and pg_hba.conf",
  "28P01": "rejects the password: check the user and password in --database",
  "3D000": "does not exist: create the database, or correct its name in --database",
  "53300": "has no free connections: raise max_connections",
  "57P03": "is starting or stopping: try again",
};

/** Messages for expected errors of connections, by a pattern of their code. */
const BY_CODE: readonly (readonly [RegExp, string])[] = [
  [/TLS_NOT_AVAILABLE/, "does not offer TLS: enable ssl on the server, or use another sslmode"],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|TLS/,
    "has an untrusted certificate: check sslrootcert and the host name",
  ],
  [
    /^(ERR_POSTGRES_|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOST|ENET|EAI_)/,
    "cannot be reached: start the server, or correct the host and port in --database",
  ],
];

/** Returns the error for the operator; undefined for an unexpected one. `name`: the database, without its password. */
export function databaseOpenErrorOf(error: unknown, name: string): DatabaseOpenError | undefined {
  if (error instanceof DatabaseOpenError) return error;
  if (error instanceof AddressError) {
    return new DatabaseOpenError(`the database address (--database) ${error.message}`);
  }
  if (error instanceof SchemaError) return new DatabaseOpenError(`${name} ${error.message}`);
  if (error instanceof NoPrimaryError) {
    return new DatabaseOpenError(`${name} does not accept writes: ${error.message}`);
  }
  if (sqlStateOf(error) === "42501") {
    // PostgreSQL's message names only the object for which the privilege is missing.
    const [what] = (error as Error).message.split("\n");
    return new DatabaseOpenError(
      `${name} denies the user a privilege that it needs (${what}): as the owner of the tables, apply postgres-role.sql again (in /usr/share/reseller or deploy). To create or upgrade tables, use their owner in --database`,
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
