// Opening the database for one run of the command line: it must be there, at this program's schema.

import type { Address } from "./address.ts";
import { connect, type Connection } from "./connection.ts";
import { pendingMigrations, SchemaError } from "./migrate.ts";
import { createPostgresStore, type PostgresOptions, type PostgresStore } from "./store.ts";

const CONNECT_MS = 5000;
/** Shown in pg_stat_activity. */
export const COMMAND_NAME = "reseller command";
/** A large import is one batch of many statements. */
const TURN_MS = 600_000;

/** Throws what connect throws, or SchemaError. */
export async function openForCommand(
  address: Address,
  options: Pick<PostgresOptions, "onAcknowledging"> = {},
): Promise<PostgresStore> {
  const connection = await connectForCommand(address);
  try {
    await requireSchema(connection);
  } finally {
    connection.close();
  }
  return createPostgresStore(address, {
    name: COMMAND_NAME,
    lanes: 1,
    turnMs: TURN_MS,
    ...options,
  });
}

export function connectForCommand(address: Address): Promise<Connection> {
  const turnMs = TURN_MS;
  return connect(address, { turnMs, connectMs: CONNECT_MS, name: COMMAND_NAME, settings: {} });
}

export async function requireSchema(connection: Connection): Promise<void> {
  const pending = await pendingMigrations(connection);
  if (pending.length === 0) return;
  throw new SchemaError(
    pending[0]!.version === 1
      ? "it is empty: start `reseller serve` with it once, which makes its tables"
      : "it was written by an older reseller: start `reseller serve` of this version once, which upgrades it",
  );
}
