// Migrations: SQL files embedded in the program, applied in one transaction, and recorded with their hash. A database
// with an unknown applied migration is newer: it is refused and not changed. Only serve, quickstart and restore apply
// them: a newer program may be used on the command line while an older server still runs.

import type { Database } from "bun:sqlite";
import initial from "../../../migrations/sqlite/0001_initial.sql" with { type: "text" };
import allEvents from "../../../migrations/sqlite/0002_all_events.sql" with { type: "text" };
import ordersOfTheOperator from "../../../migrations/sqlite/0003_orders_of_the_operator.sql" with { type: "text" };
import timedPauses from "../../../migrations/sqlite/0004_timed_pauses.sql" with { type: "text" };
import clockSteps from "../../../migrations/sqlite/0005_clock_steps_without_triggers.sql" with { type: "text" };
import fundHolds from "../../../migrations/sqlite/0006_fund_holds.sql" with { type: "text" };
import resellerLimits from "../../../migrations/sqlite/0007_reseller_limits.sql" with { type: "text" };
import hourlySpend from "../../../migrations/sqlite/0008_hourly_spend.sql" with { type: "text" };
import providerBalances from "../../../migrations/sqlite/0009_provider_balances.sql" with { type: "text" };
import priceRules from "../../../migrations/sqlite/0010_price_rules.sql" with { type: "text" };
import categoryOrder from "../../../migrations/sqlite/0011_category_order.sql" with { type: "text" };
import moneyTotals from "../../../migrations/sqlite/0012_money_totals.sql" with { type: "text" };
import userContacts from "../../../migrations/sqlite/0013_user_contacts.sql" with { type: "text" };
import keyRequests from "../../../migrations/sqlite/0014_key_requests.sql" with { type: "text" };
import members from "../../../migrations/sqlite/0015_members.sql" with { type: "text" };
import movingIn from "../../../migrations/sqlite/0016_moving_in.sql" with { type: "text" };
import administratorSettings from "../../../migrations/sqlite/0017_administrator_settings.sql" with { type: "text" };
import invoices from "../../../migrations/sqlite/0018_invoices.sql" with { type: "text" };
import mails from "../../../migrations/sqlite/0019_mails.sql" with { type: "text" };
import payments from "../../../migrations/sqlite/0020_payments.sql" with { type: "text" };
import portalNotices from "../../../migrations/sqlite/0021_portal_notices.sql" with { type: "text" };
import inspections from "../../../migrations/sqlite/0022_inspections.sql" with { type: "text" };
import pastOrdersByProviderOrder from "../../../migrations/sqlite/0023_past_orders_by_provider_order.sql" with { type: "text" };
import runningImports from "../../../migrations/sqlite/0024_running_imports.sql" with { type: "text" };
import addresses from "../../../migrations/sqlite/0025_addresses.sql" with { type: "text" };
import paymentNotices from "../../../migrations/sqlite/0026_payment_notices.sql" with { type: "text" };
import paymentSurpluses from "../../../migrations/sqlite/0027_payment_surpluses.sql" with { type: "text" };
import {
  type AppliedMigration,
  areMigrationColumns,
  type FoundDatabase,
  hashOf,
  type Migration,
  UNFINISHED_MOVE,
  whyUnusable,
} from "../../db/port/database-state.ts";
import { OpenError } from "./open-error.ts";

/** Oldest first; holds every file of migrations/sqlite/. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_initial", sql: initial },
  { version: 2, name: "0002_all_events", sql: allEvents },
  { version: 3, name: "0003_orders_of_the_operator", sql: ordersOfTheOperator },
  { version: 4, name: "0004_timed_pauses", sql: timedPauses },
  { version: 5, name: "0005_clock_steps_without_triggers", sql: clockSteps },
  { version: 6, name: "0006_fund_holds", sql: fundHolds },
  { version: 7, name: "0007_reseller_limits", sql: resellerLimits },
  { version: 8, name: "0008_hourly_spend", sql: hourlySpend },
  { version: 9, name: "0009_provider_balances", sql: providerBalances },
  { version: 10, name: "0010_price_rules", sql: priceRules },
  { version: 11, name: "0011_category_order", sql: categoryOrder },
  { version: 12, name: "0012_money_totals", sql: moneyTotals },
  { version: 13, name: "0013_user_contacts", sql: userContacts },
  { version: 14, name: "0014_key_requests", sql: keyRequests },
  { version: 15, name: "0015_members", sql: members },
  { version: 16, name: "0016_moving_in", sql: movingIn },
  { version: 17, name: "0017_administrator_settings", sql: administratorSettings },
  { version: 18, name: "0018_invoices", sql: invoices },
  { version: 19, name: "0019_mails", sql: mails },
  { version: 20, name: "0020_payments", sql: payments },
  { version: 21, name: "0021_portal_notices", sql: portalNotices },
  { version: 22, name: "0022_inspections", sql: inspections },
  { version: 23, name: "0023_past_orders_by_provider_order", sql: pastOrdersByProviderOrder },
  { version: 24, name: "0024_running_imports", sql: runningImports },
  { version: 25, name: "0025_addresses", sql: addresses },
  { version: 26, name: "0026_payment_notices", sql: paymentNotices },
  { version: 27, name: "0027_payment_surpluses", sql: paymentSurpluses },
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
  const why = whyUnusable({ ...found, tables }, migrations, ADVICE);
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
        .query<AppliedMigration, []>("SELECT version, name, hash FROM migrations ORDER BY version")
        .all()
    : null;
  return { tables, migrationColumns, applied, isMarked: id === APPLICATION_ID };
}
