// Brings a database to this program's schema. All servers use one lock, and each migration is applied once. A
// database that a newer program changed is refused.

import service from "../../../../migrations/postgres/0001_service.sql" with { type: "text" };
import setReferences from "../../../../migrations/postgres/0002_set_references.sql" with { type: "text" };
import serviceNumbers from "../../../../migrations/postgres/0003_service_numbers.sql" with { type: "text" };
import webhooks from "../../../../migrations/postgres/0004_webhooks.sql" with { type: "text" };
import sandbox from "../../../../migrations/postgres/0005_sandbox.sql" with { type: "text" };
import panel from "../../../../migrations/postgres/0006_panel.sql" with { type: "text" };
import serviceTypes from "../../../../migrations/postgres/0007_service_types.sql" with { type: "text" };
import costs from "../../../../migrations/postgres/0008_costs.sql" with { type: "text" };
import orderRequests from "../../../../migrations/postgres/0009_order_requests.sql" with { type: "text" };
import catalogue from "../../../../migrations/postgres/0010_catalogue.sql" with { type: "text" };
import routes from "../../../../migrations/postgres/0011_routes.sql" with { type: "text" };
import money from "../../../../migrations/postgres/0012_money.sql" with { type: "text" };
import serviceChanges from "../../../../migrations/postgres/0013_service_changes.sql" with { type: "text" };
import alerts from "../../../../migrations/postgres/0014_alerts.sql" with { type: "text" };
import listedRoutes from "../../../../migrations/postgres/0015_listed_routes.sql" with { type: "text" };
import rechargeLimits from "../../../../migrations/postgres/0016_recharge_limits.sql" with { type: "text" };
import knownNetworks from "../../../../migrations/postgres/0017_known_networks.sql" with { type: "text" };
import providerPauses from "../../../../migrations/postgres/0018_provider_pauses.sql" with { type: "text" };
import unitsTold from "../../../../migrations/postgres/0019_units_told.sql" with { type: "text" };
import {
  type AppliedMigration,
  areMigrationColumns,
  UNFINISHED_MOVE,
  whyUnusable,
} from "../../port/database-state.ts";
import alertAmounts from "../../../../migrations/postgres/0020_alert_amounts.sql" with { type: "text" };
import olderSecrets from "../../../../migrations/postgres/0021_older_secrets.sql" with { type: "text" };
import type { Address } from "../connection/address.ts";
import { connect, type Connection } from "../connection/connection.ts";
import { sqlStateOf } from "../connection/errors.ts";
import { HOUR_MS } from "../../../domain/values/spans.ts";

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Oldest first. Every file of migrations/postgres/ is here. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_service", sql: service },
  { version: 2, name: "0002_set_references", sql: setReferences },
  { version: 3, name: "0003_service_numbers", sql: serviceNumbers },
  { version: 4, name: "0004_webhooks", sql: webhooks },
  { version: 5, name: "0005_sandbox", sql: sandbox },
  { version: 6, name: "0006_panel", sql: panel },
  { version: 7, name: "0007_service_types", sql: serviceTypes },
  { version: 8, name: "0008_costs", sql: costs },
  { version: 9, name: "0009_order_requests", sql: orderRequests },
  { version: 10, name: "0010_catalogue", sql: catalogue },
  { version: 11, name: "0011_routes", sql: routes },
  { version: 12, name: "0012_money", sql: money },
  { version: 13, name: "0013_service_changes", sql: serviceChanges },
  { version: 14, name: "0014_alerts", sql: alerts },
  { version: 15, name: "0015_listed_routes", sql: listedRoutes },
  { version: 16, name: "0016_recharge_limits", sql: rechargeLimits },
  { version: 17, name: "0017_known_networks", sql: knownNetworks },
  { version: 18, name: "0018_provider_pauses", sql: providerPauses },
  { version: 19, name: "0019_units_told", sql: unitsTold },
  { version: 20, name: "0020_alert_amounts", sql: alertAmounts },
  { version: 21, name: "0021_older_secrets", sql: olderSecrets },
];

/** "rslr" as a number: the advisory lock. */
const LOCK = "1920166002";
/**
 * Every batch locks rows of this table first. So batches in flight end, and later ones wait without holding a lock
 * that a migration could wait for. Statements that read several tables are not kept out; they may cause a deadlock.
 */
const LOCK_OUT_BATCHES = "LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE";
const DEADLOCK_DETECTED = "40P01";
const TRIES_LIMIT = 20;
/** Time limit for all migrations together, which may have to read large tables. */
const MIGRATE_MS = HOUR_MS;
const CONNECT_MS = 5000;
/** PostgreSQL 14. */
const VERSION_MINIMUM = 140_000;

export interface MigrateOptions {
  migrations?: readonly Migration[];
  /** Allows the mark of an unfinished move, for the move to this database. */
  mayBeUnfinished?: boolean;
}

/**
 * The database cannot be used as it is. The message continues after the database's name, and says why and what to do.
 */
export class SchemaError extends Error {
  override name = "SchemaError";
}

/**
 * Applies the pending migrations and returns their names. Throws SchemaError. Servers of the previous version may
 * still be running: after a deadlock with their transactions it begins again.
 */
export async function migrate(
  address: Address,
  now: number,
  { migrations = MIGRATIONS, mayBeUnfinished = false }: MigrateOptions = {},
): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await migrateOnce(address, now, migrations, mayBeUnfinished);
    } catch (error) {
      if (tries === TRIES_LIMIT || sqlStateOf(error) !== DEADLOCK_DETECTED) throw error;
    }
  }
}

async function migrateOnce(
  address: Address,
  now: number,
  migrations: readonly Migration[],
  mayBeUnfinished: boolean,
): Promise<string[]> {
  const connection = await connect(address, {
    turnMs: MIGRATE_MS,
    connectMs: CONNECT_MS,
    name: "reseller migrate",
    settings: {},
  });
  const { reserved } = connection;
  try {
    await refuseOldServer(connection);
    // Each migration is one string of several commands, so it needs the simple protocol. All run in one transaction,
    // whose end releases the lock.
    await reserved.unsafe("BEGIN");
    await reserved.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const { applied, pending } = await readState(connection, migrations, mayBeUnfinished);
    // No IF NOT EXISTS: it needs the right to create even if the table exists.
    if (applied.length === 0) {
      await reserved.unsafe(`CREATE TABLE migrations (
        version bigint PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied_at bigint NOT NULL)`);
    }
    if (applied.length > 0 && pending.length > 0) await reserved.unsafe(LOCK_OUT_BATCHES);
    for (const migration of pending) {
      await reserved.unsafe(migration.sql);
      await reserved.unsafe(
        "INSERT INTO migrations VALUES ($1::int, $2::text, $3::text, $4::bigint)",
        [String(migration.version), migration.name, hashOf(migration), String(now)],
      );
    }
    await reserved.unsafe("COMMIT");
    return pending.map(({ name }) => name);
  } finally {
    // Closing rolls back whatever was not committed.
    connection.close();
  }
}

/**
 * Returns the migrations that the database lacks. Only reads. Throws SchemaError if the database is newer, altered,
 * damaged, another program's, or the target of an unfinished move. `mayBeUnfinished` allows that last case, for the
 * move itself.
 */
export async function pendingMigrations(
  connection: Connection,
  mayBeUnfinished = false,
): Promise<Migration[]> {
  await refuseOldServer(connection);
  return (await readState(connection, MIGRATIONS, mayBeUnfinished)).pending;
}

const ADVICE = {
  another: "use a separate database in --database",
  remove: "drop the database and create it again",
};

async function readState(
  { reserved }: Connection,
  migrations: readonly Migration[],
  mayBeUnfinished: boolean,
): Promise<{ applied: readonly AppliedMigration[]; pending: Migration[] }> {
  const rows = (await reserved.unsafe(TABLES)) as { name: string }[];
  const columns = (await reserved.unsafe(COLUMNS)) as { name: string }[];
  const tables = rows.map(({ name }) => name);
  const migrationColumns = tables.includes("migrations") ? columns.map(({ name }) => name) : null;
  const applied = areMigrationColumns(migrationColumns)
    ? ((await reserved.unsafe(APPLIED)) as AppliedMigration[])
    : null;
  const found = {
    tables: tables.filter((name) => !mayBeUnfinished || name !== UNFINISHED_MOVE),
    migrationColumns,
    applied,
    isMarked: null,
  };
  const known = migrations.map((each) => ({ ...each, hash: hashOf(each) }));
  const why = whyUnusable(found, known, ADVICE);
  if (why !== null) throw new SchemaError(why);
  const versions = new Set((applied ?? []).map(({ version }) => version));
  return {
    applied: applied ?? [],
    pending: migrations.filter(({ version }) => !versions.has(version)),
  };
}

/** Relations in the schema in which ours are created, without those of extensions. */
const TABLES = `SELECT relname AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
  ORDER BY relname`;
const COLUMNS = `SELECT attname AS name FROM pg_attribute
  WHERE attrelid = to_regclass('migrations') AND attnum > 0 AND NOT attisdropped`;
const APPLIED = "SELECT version::int AS version, hash FROM migrations ORDER BY version";

async function refuseOldServer({ reserved }: Connection): Promise<void> {
  const [version] = (await reserved.unsafe("SHOW server_version_num")) as {
    server_version_num: string;
  }[];
  if (Number(version!.server_version_num) < VERSION_MINIMUM) {
    throw new SchemaError("is on a server older than PostgreSQL 14: upgrade the server");
  }
}

function hashOf({ sql }: Migration): string {
  return new Bun.CryptoHasher("sha256").update(sql).digest("hex");
}
