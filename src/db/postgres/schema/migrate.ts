// Brings a database to this program's schema. A lock ensures that several servers apply each migration only once.
// Refuses a database that a newer program changed.

import initial from "../../../../migrations/postgres/0001_initial.sql" with { type: "text" };
import allEvents from "../../../../migrations/postgres/0002_all_events.sql" with { type: "text" };
import ordersOfTheOperator from "../../../../migrations/postgres/0003_orders_of_the_operator.sql" with { type: "text" };
import timedPauses from "../../../../migrations/postgres/0004_timed_pauses.sql" with { type: "text" };
import fundHolds from "../../../../migrations/postgres/0005_fund_holds.sql" with { type: "text" };
import resellerLimits from "../../../../migrations/postgres/0006_reseller_limits.sql" with { type: "text" };
import hourlySpend from "../../../../migrations/postgres/0007_hourly_spend.sql" with { type: "text" };
import providerBalances from "../../../../migrations/postgres/0008_provider_balances.sql" with { type: "text" };
import priceRules from "../../../../migrations/postgres/0009_price_rules.sql" with { type: "text" };
import categoryOrder from "../../../../migrations/postgres/0010_category_order.sql" with { type: "text" };
import moneyTotals from "../../../../migrations/postgres/0011_money_totals.sql" with { type: "text" };
import userContacts from "../../../../migrations/postgres/0012_user_contacts.sql" with { type: "text" };
import keyRequests from "../../../../migrations/postgres/0013_key_requests.sql" with { type: "text" };
import members from "../../../../migrations/postgres/0014_members.sql" with { type: "text" };
import movingIn from "../../../../migrations/postgres/0015_moving_in.sql" with { type: "text" };
import administratorSettings from "../../../../migrations/postgres/0016_administrator_settings.sql" with { type: "text" };
import invoices from "../../../../migrations/postgres/0017_invoices.sql" with { type: "text" };
import mails from "../../../../migrations/postgres/0018_mails.sql" with { type: "text" };
import payments from "../../../../migrations/postgres/0019_payments.sql" with { type: "text" };
import portalNotices from "../../../../migrations/postgres/0020_portal_notices.sql" with { type: "text" };
import inspections from "../../../../migrations/postgres/0021_inspections.sql" with { type: "text" };
import pastOrdersByProviderOrder from "../../../../migrations/postgres/0022_past_orders_by_provider_order.sql" with { type: "text" };
import runningImports from "../../../../migrations/postgres/0023_running_imports.sql" with { type: "text" };
import addresses from "../../../../migrations/postgres/0024_addresses.sql" with { type: "text" };
import paymentNotices from "../../../../migrations/postgres/0025_payment_notices.sql" with { type: "text" };
import paymentSurpluses from "../../../../migrations/postgres/0026_payment_surpluses.sql" with { type: "text" };
import {
  type AppliedMigration,
  areMigrationColumns,
  hashOf,
  type Migration,
  UNFINISHED_MOVE,
  whyUnusable,
} from "../../port/database-state.ts";
import { HOUR_MS } from "../../../domain/values/spans.ts";
import type { Address } from "../connection/address.ts";
import { connect, CONNECT_ONCE_MS, type Connection } from "../connection/connection.ts";
import { SchemaError, sqlStateOf } from "../connection/errors.ts";

/** Oldest first; holds every file of migrations/postgres/. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_initial", sql: initial },
  { version: 2, name: "0002_all_events", sql: allEvents },
  { version: 3, name: "0003_orders_of_the_operator", sql: ordersOfTheOperator },
  { version: 4, name: "0004_timed_pauses", sql: timedPauses },
  { version: 5, name: "0005_fund_holds", sql: fundHolds },
  { version: 6, name: "0006_reseller_limits", sql: resellerLimits },
  { version: 7, name: "0007_hourly_spend", sql: hourlySpend },
  { version: 8, name: "0008_provider_balances", sql: providerBalances },
  { version: 9, name: "0009_price_rules", sql: priceRules },
  { version: 10, name: "0010_category_order", sql: categoryOrder },
  { version: 11, name: "0011_money_totals", sql: moneyTotals },
  { version: 12, name: "0012_user_contacts", sql: userContacts },
  { version: 13, name: "0013_key_requests", sql: keyRequests },
  { version: 14, name: "0014_members", sql: members },
  { version: 15, name: "0015_moving_in", sql: movingIn },
  { version: 16, name: "0016_administrator_settings", sql: administratorSettings },
  { version: 17, name: "0017_invoices", sql: invoices },
  { version: 18, name: "0018_mails", sql: mails },
  { version: 19, name: "0019_payments", sql: payments },
  { version: 20, name: "0020_portal_notices", sql: portalNotices },
  { version: 21, name: "0021_inspections", sql: inspections },
  { version: 22, name: "0022_past_orders_by_provider_order", sql: pastOrdersByProviderOrder },
  { version: 23, name: "0023_running_imports", sql: runningImports },
  { version: 24, name: "0024_addresses", sql: addresses },
  { version: 25, name: "0025_payment_notices", sql: paymentNotices },
  { version: 26, name: "0026_payment_surpluses", sql: paymentSurpluses },
];

/** The number of the advisory lock: "rslr". */
const LOCK = "1920166002";
/**
 * Keeps batches out, because every batch first locks rows of this table. Batches in flight end, and later ones wait
 * without holding a lock that a migration needs. Statements that read several tables are not kept out and may cause a
 * deadlock.
 */
const LOCK_OUT_BATCHES = "LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE";
const DEADLOCK_DETECTED = "40P01";
const TRIES_LIMIT = 20;
/** Time limit for all migrations together, which may have to read large tables. */
const MIGRATE_MS = HOUR_MS;
/** PostgreSQL 14. */
const VERSION_MINIMUM = 140_000;

export interface MigrateOptions {
  migrations?: readonly Migration[];
  /** Allows the mark of an unfinished move, for the move to this database. */
  mayBeUnfinished?: boolean;
}

/**
 * Applies the pending migrations and returns their names. Throws SchemaError. Tries again after a deadlock, because
 * servers of the previous version may still be running.
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
    connectMs: CONNECT_ONCE_MS,
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
    // Without IF NOT EXISTS, which needs the right to create even if the table exists.
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
  const why = whyUnusable(found, migrations, ADVICE);
  if (why !== null) throw new SchemaError(why);
  const versions = new Set((applied ?? []).map(({ version }) => version));
  return {
    applied: applied ?? [],
    pending: migrations.filter(({ version }) => !versions.has(version)),
  };
}

/** SQL for the tables and views in the schema of our tables, without those of extensions. */
const TABLES = `SELECT relname AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
  ORDER BY relname`;
const COLUMNS = `SELECT attname AS name FROM pg_attribute
  WHERE attrelid = to_regclass('migrations') AND attnum > 0 AND NOT attisdropped`;
const APPLIED = "SELECT version::int AS version, name, hash FROM migrations ORDER BY version";

async function refuseOldServer({ reserved }: Connection): Promise<void> {
  const [version] = (await reserved.unsafe("SHOW server_version_num")) as {
    server_version_num: string;
  }[];
  if (Number(version!.server_version_num) < VERSION_MINIMUM) {
    throw new SchemaError("is on a server older than PostgreSQL 14: upgrade the server");
  }
}
