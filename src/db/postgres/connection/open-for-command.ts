// Opens the database for one run of the command line. It must exist and have this program's schema.

import type { Address } from "./address.ts";
import { type DatabaseClock, startDatabaseClock } from "./clock.ts";
import { TABLES } from "../../tables/tables.ts";
import { connect, CONNECT_ONCE_MS, type Connection } from "./connection.ts";
import { SchemaError } from "./errors.ts";
import { pendingMigrations } from "../schema/migrate.ts";
import { readOn } from "../batch/snapshot.ts";
import { createPostgresStore, type PostgresOptions, type PostgresStore } from "../batch/store.ts";

/** Shown in pg_stat_activity. */
export const COMMAND_NAME = "reseller command";
/** Time limit for one turn: a large import is one batch of many statements. */
const TURN_MS = 600_000;

export interface CommandDatabase {
  store: PostgresStore;
  /** Milliseconds since 1970, by the database's clock. */
  now: () => number;
}

/** Opens the database. Throws what connect throws, or SchemaError. */
export async function openForCommand(
  address: Address,
  options: Pick<PostgresOptions, "onAcknowledging"> = {},
): Promise<CommandDatabase> {
  const connection = await connectForCommand(address);
  let clock: DatabaseClock;
  try {
    await requireSchema(connection);
    clock = await startDatabaseClock(readOn(connection));
  } finally {
    connection.close();
  }
  const { now } = clock;
  const named = { name: COMMAND_NAME, lanes: 1, turnMs: TURN_MS };
  return { store: createPostgresStore(address, { ...named, now, ...options }), now };
}

export function connectForCommand(address: Address): Promise<Connection> {
  const turnMs = TURN_MS;
  return connect(address, { turnMs, connectMs: CONNECT_ONCE_MS, name: COMMAND_NAME, settings: {} });
}

/**
 * Throws SchemaError unless the schema is this program's. `mayBeUnfinished`: allows the mark of an unfinished move,
 * for the move itself.
 */
export async function requireSchema(
  connection: Connection,
  mayBeUnfinished = false,
): Promise<void> {
  const pending = await pendingMigrations(connection, mayBeUnfinished);
  if (pending.length === 0) return;
  throw new SchemaError(
    pending[0]!.version === 1
      ? "is empty: run `reseller serve` on it once to create the tables"
      : "was written by an older version: run this version's `reseller serve` on it once to upgrade it",
  );
}

/**
 * Throws PostgreSQL's error if the user may not read one of our tables. That happens if the grants were not applied
 * again after an upgrade that created the table. Without this check a server would start, and fail when it needs the
 * table.
 */
export async function requireRights(address: Address): Promise<void> {
  const connection = await connectForCommand(address);
  const reads = TABLES.map(({ name }) => `SELECT 1 FROM ${name} LIMIT 0`);
  try {
    await connection.reserved.unsafe(reads.join("; "));
  } finally {
    connection.close();
  }
}
