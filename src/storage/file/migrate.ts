// Migrations: SQL files embedded in the program, applied in one transaction, and recorded with their hash. A database
// with an unknown applied migration is newer: it is refused and not changed.

import type { Database } from "bun:sqlite";
import service from "../../../migrations/sqlite/0001_service.sql" with { type: "text" };
import providers from "../../../migrations/sqlite/0002_providers.sql" with { type: "text" };
import idempotency from "../../../migrations/sqlite/0003_idempotency.sql" with { type: "text" };
import lists from "../../../migrations/sqlite/0004_lists.sql" with { type: "text" };
import operation from "../../../migrations/sqlite/0005_operation.sql" with { type: "text" };
import cheapChecks from "../../../migrations/sqlite/0006_cheap_checks.sql" with { type: "text" };
import catalogueVersion from "../../../migrations/sqlite/0007_catalogue_version.sql" with { type: "text" };
import largeBalances from "../../../migrations/sqlite/0008_large_balances.sql" with { type: "text" };
import uptime from "../../../migrations/sqlite/0009_uptime.sql" with { type: "text" };
import numberFloors from "../../../migrations/sqlite/0010_number_floors.sql" with { type: "text" };
import servers from "../../../migrations/sqlite/0011_servers.sql" with { type: "text" };
import serviceNumbers from "../../../migrations/sqlite/0012_service_numbers.sql" with { type: "text" };
import webhooks from "../../../migrations/sqlite/0013_webhooks.sql" with { type: "text" };
import sandbox from "../../../migrations/sqlite/0014_sandbox.sql" with { type: "text" };
import panel from "../../../migrations/sqlite/0015_panel.sql" with { type: "text" };
import serviceTypes from "../../../migrations/sqlite/0016_service_types.sql" with { type: "text" };
import costs from "../../../migrations/sqlite/0017_costs.sql" with { type: "text" };
import orderRequests from "../../../migrations/sqlite/0018_order_requests.sql" with { type: "text" };
import catalogue from "../../../migrations/sqlite/0019_catalogue.sql" with { type: "text" };
import routes from "../../../migrations/sqlite/0020_routes.sql" with { type: "text" };
import money from "../../../migrations/sqlite/0021_money.sql" with { type: "text" };
import serviceChanges from "../../../migrations/sqlite/0022_service_changes.sql" with { type: "text" };
import alerts from "../../../migrations/sqlite/0023_alerts.sql" with { type: "text" };
import listedRoutes from "../../../migrations/sqlite/0024_listed_routes.sql" with { type: "text" };
import rechargeLimits from "../../../migrations/sqlite/0025_recharge_limits.sql" with { type: "text" };
import knownNetworks from "../../../migrations/sqlite/0026_known_networks.sql" with { type: "text" };
import providerPauses from "../../../migrations/sqlite/0027_provider_pauses.sql" with { type: "text" };
import unitsTold from "../../../migrations/sqlite/0028_units_told.sql" with { type: "text" };
import {
  type AppliedMigration,
  areMigrationColumns,
  type FoundDatabase,
  UNFINISHED_MOVE,
  whyUnusable,
} from "../../db/port/database-state.ts";
import alertAmounts from "../../../migrations/sqlite/0029_alert_amounts.sql" with { type: "text" };
import olderSecrets from "../../../migrations/sqlite/0030_older_secrets.sql" with { type: "text" };
import { OpenError } from "./open-error.ts";

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Oldest first; holds every file of migrations/sqlite/. */
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
  { version: 25, name: "0025_recharge_limits", sql: rechargeLimits },
  { version: 26, name: "0026_known_networks", sql: knownNetworks },
  { version: 27, name: "0027_provider_pauses", sql: providerPauses },
  { version: 28, name: "0028_units_told", sql: unitsTold },
  { version: 29, name: "0029_alert_amounts", sql: alertAmounts },
  { version: 30, name: "0030_older_secrets", sql: olderSecrets },
];

/** PRAGMA application_id of our databases: "rslr". */
export const APPLICATION_ID = 0x72736c72;

const ADVICE = {
  another: "use another --data folder",
  remove: "remove it, with its -wal and -shm files",
};

/**
 * Returns the migrations that the database lacks. Throws OpenError if the database is newer, altered, damaged,
 * another program's, or the target of an unfinished move. `mayBeUnfinished` allows that last case, for the move
 * itself.
 */
export function pendingMigrations(
  sqlite: Database,
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
  mayBeUnfinished = false,
): Migration[] {
  const found = databaseIn(sqlite);
  const tables = found.tables.filter((name) => !mayBeUnfinished || name !== UNFINISHED_MOVE);
  const known = migrations.map((each) => ({ ...each, hash: hashOf(each) }));
  const why = whyUnusable({ ...found, tables }, known, ADVICE);
  if (why !== null) throw new OpenError(`${path} ${why}`);
  const versions = new Set((found.applied ?? []).map(({ version }) => version));
  return migrations.filter(({ version }) => !versions.has(version));
}

/**
 * Applies migrations in one transaction. Foreign keys are off during it, so that tables can be rebuilt, and are
 * checked before the COMMIT.
 */
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
    if (dangling > 0) throw new Error(`${dangling} rows would lose rows that they refer to`);
    sqlite.run("COMMIT");
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    throw error;
  } finally {
    sqlite.run("PRAGMA foreign_keys = ON");
  }
}

/** Returns the versions that were applied to one of our databases. */
export function appliedVersions(sqlite: Database): Set<number> {
  const rows = sqlite.query<{ version: number }, []>("SELECT version FROM migrations").all();
  return new Set(rows.map(({ version }) => version));
}

/** Excludes the tables that SQLite and Litestream keep for themselves. */
const OUTSIDE = "name NOT GLOB 'sqlite_*' AND name NOT GLOB '_litestream_*'";

function databaseIn(sqlite: Database): FoundDatabase {
  const namesIn = (text: string) => sqlite.query(text).values().flat() as string[];
  const tables = namesIn(
    `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND ${OUTSIDE} ORDER BY name`,
  );
  const columns = namesIn("SELECT name FROM pragma_table_info('migrations')");
  const { application_id: id } = sqlite.query("PRAGMA application_id").get() as {
    application_id: number;
  };
  const migrationColumns = tables.includes("migrations") ? columns : null;
  const applied = areMigrationColumns(migrationColumns)
    ? sqlite
        .query<AppliedMigration, []>("SELECT version, hash FROM migrations ORDER BY version")
        .all()
    : null;
  return { tables, migrationColumns, applied, isMarked: id === APPLICATION_ID };
}

function hashOf(migration: Migration): string {
  return new Bun.CryptoHasher("sha256").update(migration.sql).digest("hex");
}
