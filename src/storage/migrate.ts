// Migrations: SQL files embedded in the binary, applied in one transaction, recorded with their hash.
// An applied migration that this binary does not know means a newer database: it is refused and not changed.

import type { Database } from "bun:sqlite";
import service from "../../migrations/sqlite/0001_service.sql" with { type: "text" };
import providers from "../../migrations/sqlite/0002_providers.sql" with { type: "text" };
import idempotency from "../../migrations/sqlite/0003_idempotency.sql" with { type: "text" };
import lists from "../../migrations/sqlite/0004_lists.sql" with { type: "text" };
import operation from "../../migrations/sqlite/0005_operation.sql" with { type: "text" };
import cheapChecks from "../../migrations/sqlite/0006_cheap_checks.sql" with { type: "text" };
import catalogueVersion from "../../migrations/sqlite/0007_catalogue_version.sql" with { type: "text" };
import largeBalances from "../../migrations/sqlite/0008_large_balances.sql" with { type: "text" };
import uptime from "../../migrations/sqlite/0009_uptime.sql" with { type: "text" };
import numberFloors from "../../migrations/sqlite/0010_number_floors.sql" with { type: "text" };
import servers from "../../migrations/sqlite/0011_servers.sql" with { type: "text" };
import serviceNumbers from "../../migrations/sqlite/0012_service_numbers.sql" with { type: "text" };
import webhooks from "../../migrations/sqlite/0013_webhooks.sql" with { type: "text" };
import sandbox from "../../migrations/sqlite/0014_sandbox.sql" with { type: "text" };
import panel from "../../migrations/sqlite/0015_panel.sql" with { type: "text" };
import serviceTypes from "../../migrations/sqlite/0016_service_types.sql" with { type: "text" };
import costs from "../../migrations/sqlite/0017_costs.sql" with { type: "text" };
import orderRequests from "../../migrations/sqlite/0018_order_requests.sql" with { type: "text" };
import catalogue from "../../migrations/sqlite/0019_catalogue.sql" with { type: "text" };
import routes from "../../migrations/sqlite/0020_routes.sql" with { type: "text" };
import money from "../../migrations/sqlite/0021_money.sql" with { type: "text" };
import serviceChanges from "../../migrations/sqlite/0022_service_changes.sql" with { type: "text" };
import alerts from "../../migrations/sqlite/0023_alerts.sql" with { type: "text" };
import listedRoutes from "../../migrations/sqlite/0024_listed_routes.sql" with { type: "text" };
import { OpenError } from "./open-error.ts";

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Oldest first. Every file of migrations/sqlite/ is here. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_service", sql: service },
  { version: 2, name: "0002_providers", sql: providers },
  { version: 3, name: "0003_idempotency", sql: idempotency },
  { version: 4, name: "0004_lists", sql: lists },
  { version: 5, name: "0005_operation", sql: operation },
  { version: 6, name: "0006_cheap_checks", sql: cheapChecks },
  { version: 7, name: "0007_catalogue_version", sql: catalogueVersion },
  { version: 8, name: "0008_large_balances", sql: largeBalances },
  { version: 9, name: "0009_uptime", sql: uptime },
  { version: 10, name: "0010_number_floors", sql: numberFloors },
  { version: 11, name: "0011_servers", sql: servers },
  { version: 12, name: "0012_service_numbers", sql: serviceNumbers },
  { version: 13, name: "0013_webhooks", sql: webhooks },
  { version: 14, name: "0014_sandbox", sql: sandbox },
  { version: 15, name: "0015_panel", sql: panel },
  { version: 16, name: "0016_service_types", sql: serviceTypes },
  { version: 17, name: "0017_costs", sql: costs },
  { version: 18, name: "0018_order_requests", sql: orderRequests },
  { version: 19, name: "0019_catalogue", sql: catalogue },
  { version: 20, name: "0020_routes", sql: routes },
  { version: 21, name: "0021_money", sql: money },
  { version: 22, name: "0022_service_changes", sql: serviceChanges },
  { version: 23, name: "0023_alerts", sql: alerts },
  { version: 24, name: "0024_listed_routes", sql: listedRoutes },
];

/** PRAGMA application_id of our databases: "rslr". */
export const APPLICATION_ID = 0x72736c72;

/** The migrations that the database lacks. Throws OpenError when it is newer, altered or of another program. */
export function pendingMigrations(
  sqlite: Database,
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Migration[] {
  const applied = appliedMigrations(sqlite, path);
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, hash } of applied) {
    const migration = known.get(version);
    if (!migration) {
      throw new OpenError(
        `${path} was written by a newer reseller (schema ${version}, this binary knows ${migrations.at(-1)?.version ?? 0}): run that version or a later one`,
      );
    }
    if (hashOf(migration) !== hash) {
      throw new OpenError(
        `${path} was made by another build of schema ${version} (${migration.name} differs): run the build that made it`,
      );
    }
  }
  const versions = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !versions.has(version));
}

/** Applies migrations in one transaction. Foreign keys are off, so that tables can be rebuilt, and checked before COMMIT. */
export function migrate(sqlite: Database, pending: readonly Migration[], now: number): void {
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run("BEGIN EXCLUSIVE");
  try {
    sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    sqlite.run(
      `CREATE TABLE IF NOT EXISTS migrations (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, applied_at INTEGER NOT NULL
      ) STRICT`,
    );
    const record = sqlite.query("INSERT INTO migrations VALUES (?, ?, ?, ?)");
    for (const migration of pending) {
      sqlite.run(migration.sql);
      record.run(migration.version, migration.name, hashOf(migration), now);
    }
    const dangling = sqlite.query("PRAGMA foreign_key_check").all().length;
    if (dangling > 0) throw new Error(`${dangling} rows would lose what they refer to`);
    sqlite.run("COMMIT");
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    throw error;
  } finally {
    sqlite.run("PRAGMA foreign_keys = ON");
  }
}

/** The versions applied to a database of ours. */
export function appliedVersions(sqlite: Database): Set<number> {
  const rows = sqlite.query<{ version: number }, []>("SELECT version FROM migrations").all();
  return new Set(rows.map(({ version }) => version));
}

function appliedMigrations(sqlite: Database, path: string): { version: number; hash: string }[] {
  const { tables } = sqlite
    .query("SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table'")
    .get() as { tables: number };
  if (tables === 0) return [];
  const { application_id: id } = sqlite.query("PRAGMA application_id").get() as {
    application_id: number;
  };
  if (id !== APPLICATION_ID) {
    throw new OpenError(`${path} is a database of another program: name another --data folder`);
  }
  const listed = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  if (!listed) throw new OpenError(`${path} has lost its table of migrations: restore a backup`);
  return sqlite.query("SELECT version, hash FROM migrations ORDER BY version").all() as {
    version: number;
    hash: string;
  }[];
}

function hashOf(migration: Migration): string {
  return new Bun.CryptoHasher("sha256").update(migration.sql).digest("hex");
}
