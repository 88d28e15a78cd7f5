// Names the database of a command: the file in --data, or the PostgreSQL database in --database. Messages never
// show the user or the password in that address.

import { ConfigError } from "../../config/flags.ts";
import {
  type Address,
  AddressError,
  describeAddress,
  parseAddress,
} from "../../db/postgres/connection/address.ts";
import { databasePath } from "../../storage/file/open.ts";

export interface DatabaseName {
  data: string;
  /** Address of the PostgreSQL database, or null for the file in `data`. */
  address: Address | null;
  /** For messages: the path of the file, or postgres://host/name. */
  shown: string;
}

/** Returns the command's database. Throws ConfigError if --database is not an address. */
export function databaseOf({
  data,
  database,
}: {
  data: string;
  database: string | null;
}): DatabaseName {
  if (database === null) return { data, address: null, shown: databasePath(data) };
  const address = requireAddress(database, "the address of the database (--database)");
  return { data, address, shown: describeAddress(address) };
}

/** Parses an address. `what` begins the error message. */
export function requireAddress(text: string, what: string): Address {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new ConfigError(`${what} ${error.message}`);
  }
}

/** Throws ConfigError if --database is given to a command that supports only the database in a data directory. */
export function refusePostgres({ database }: { database: string | null }, advice: string): void {
  if (database !== null) throw new ConfigError(advice);
}
