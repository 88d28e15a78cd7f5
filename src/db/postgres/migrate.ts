// Brings a database to this program's schema: under one lock for all servers, each migration once, and nothing that a
// newer program made.

import service from "../../../migrations/postgres/0001_service.sql" with { type: "text" };
import setReferences from "../../../migrations/postgres/0002_set_references.sql" with { type: "text" };
import serviceNumbers from "../../../migrations/postgres/0003_service_numbers.sql" with { type: "text" };
import webhooks from "../../../migrations/postgres/0004_webhooks.sql" with { type: "text" };
import sandbox from "../../../migrations/postgres/0005_sandbox.sql" with { type: "text" };
import panel from "../../../migrations/postgres/0006_panel.sql" with { type: "text" };
import serviceTypes from "../../../migrations/postgres/0007_service_types.sql" with { type: "text" };
import costs from "../../../migrations/postgres/0008_costs.sql" with { type: "text" };
import orderRequests from "../../../migrations/postgres/0009_order_requests.sql" with { type: "text" };
import catalogue from "../../../migrations/postgres/0010_catalogue.sql" with { type: "text" };
import routes from "../../../migrations/postgres/0011_routes.sql" with { type: "text" };
import money from "../../../migrations/postgres/0012_money.sql" with { type: "text" };
import serviceChanges from "../../../migrations/postgres/0013_service_changes.sql" with { type: "text" };
import alerts from "../../../migrations/postgres/0014_alerts.sql" with { type: "text" };
import listedRoutes from "../../../migrations/postgres/0015_listed_routes.sql" with { type: "text" };
import type { Address } from "./address.ts";
import { connect, type Connection } from "./connection.ts";
import { sqlStateOf } from "./errors.ts";

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
];

/** "rslr", as an advisory lock. */
const LOCK = "1920166002";
/**
 * Every batch locks rows of this table first: those in flight end, and later ones wait without a lock that a migration could
 * wait for. Statements that read several tables are not kept out: with them there may be a deadlock.
 */
const LOCK_OUT_BATCHES = "LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE";
const DEADLOCK_DETECTED = "40P01";
const TRIES_LIMIT = 20;
/** For all migrations together: they may have to read large tables. */
const MIGRATE_MS = 3_600_000;
const CONNECT_MS = 5000;
/** PostgreSQL 14. */
const VERSION_MINIMUM = 140_000;

/** The database cannot be used as it is. The message says why and what to do. */
export class SchemaError extends Error {
  override name = "SchemaError";
}

/**
 * Returns the names of what was applied. Throws SchemaError. Servers of the version before may be at work meanwhile: where
 * their transactions and this one wait for each other, it begins again.
 */
export async function migrate(
  address: Address,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await migrateOnce(address, now, migrations);
    } catch (error) {
      if (tries === TRIES_LIMIT || sqlStateOf(error) !== DEADLOCK_DETECTED) throw error;
    }
  }
}

async function migrateOnce(
  address: Address,
  now: number,
  migrations: readonly Migration[],
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
    // One statement a migration, several commands each: the simple protocol, in one transaction that the lock ends with.
    await reserved.unsafe("BEGIN");
    await reserved.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`);
    // IF NOT EXISTS would ask for the right to create even where there is nothing to create.
    const [found] = (await reserved.unsafe("SELECT to_regclass('migrations') AS name")) as {
      name: string | null;
    }[];
    if (found!.name === null) {
      await reserved.unsafe(`CREATE TABLE migrations (
        version bigint PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied_at bigint NOT NULL)`);
    }
    const applied = (await reserved.unsafe(APPLIED)) as AppliedMigration[];
    refuseOtherSchema(applied, migrations);
    const known = new Set(applied.map((each) => each.version));
    const pending = migrations.filter((each) => !known.has(each.version));
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
    // Whatever was not committed is rolled back with the connection.
    connection.close();
  }
}

/** Those that the database lacks. Reads only. Throws SchemaError for a newer or an altered schema. */
export async function pendingMigrations(connection: Connection): Promise<Migration[]> {
  await refuseOldServer(connection);
  const { reserved } = connection;
  const [found] = (await reserved.unsafe(
    "SELECT to_regclass('migrations') IS NOT NULL AS there",
  )) as { there: boolean }[];
  if (!found!.there) return [...MIGRATIONS];
  const applied = (await reserved.unsafe(APPLIED)) as AppliedMigration[];
  refuseOtherSchema(applied, MIGRATIONS);
  const known = new Set(applied.map(({ version }) => version));
  return MIGRATIONS.filter(({ version }) => !known.has(version));
}

const APPLIED = "SELECT version::int AS version, hash FROM migrations ORDER BY version";

async function refuseOldServer({ reserved }: Connection): Promise<void> {
  const [version] = (await reserved.unsafe("SHOW server_version_num")) as {
    server_version_num: string;
  }[];
  if (Number(version!.server_version_num) < VERSION_MINIMUM) {
    throw new SchemaError("the server is older than PostgreSQL 14: upgrade it");
  }
}

interface AppliedMigration {
  version: number;
  hash: string;
}

function refuseOtherSchema(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): void {
  for (const { version, hash } of applied) {
    const migration = migrations.find((each) => each.version === version);
    if (!migration) {
      throw new SchemaError(
        `the database was written by a newer reseller (schema ${version}, this binary knows ${migrations.at(-1)?.version ?? 0}): run that version or a later one`,
      );
    }
    if (hashOf(migration) !== hash) {
      throw new SchemaError(
        `the database was made by another build of schema ${version} (${migration.name} differs): run the build that made it`,
      );
    }
  }
}

function hashOf({ sql }: Migration): string {
  return new Bun.CryptoHasher("sha256").update(sql).digest("hex");
}
