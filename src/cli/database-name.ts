// Which database a command is for: the one in --data, or that of --database, of which no message shows user or password.

import { ConfigError } from "../config/flags.ts";
import {
  type Address,
  AddressError,
  describeAddress,
  parseAddress,
} from "../db/postgres/address.ts";
import { databasePath } from "../storage/open.ts";

export interface DatabaseName {
  data: string;
  /** Of PostgreSQL; null: the file in `data`. */
  address: Address | null;
  /** For messages: the path of the file, or postgres://host/name. */
  shown: string;
}

/** Throws ConfigError for a --database that is no address. */
export function databaseOf({
  data,
  database,
}: {
  data: string;
  database: string | null;
}): DatabaseName {
  if (database === null) return { data, address: null, shown: databasePath(data) };
  const address = addressOf(database, "the address of the database (--database)");
  return { data, address, shown: describeAddress(address) };
}

/** `what` begins the message. */
export function addressOf(text: string, what: string): Address {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new ConfigError(`${what} ${error.message}`);
  }
}

/** Throws ConfigError for a command that is for the database in a data directory alone. */
export function refusePostgres({ database }: { database: string | null }, advice: string): void {
  if (database !== null) throw new ConfigError(advice);
}
