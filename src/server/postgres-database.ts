// The database of a running server, on PostgreSQL: its schema, the conditions of durability, the lease of this server,
// the writer and the connections that read.

import { mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/settings.ts";
import { createId } from "../db/port/ids.ts";
import { findCallerKeyByHash } from "../db/users/keys.ts";
import type { Store } from "../db/port/port.ts";
import { type Address, describeAddress, parseAddress } from "../db/postgres/connection/address.ts";
import { type DatabaseClock, startDatabaseClock } from "../db/postgres/connection/clock.ts";
import { readConditions } from "../db/postgres/connection/conditions.ts";
import { clockDifference, isWithoutStandby, weaknesses } from "../db/postgres/schema/weaknesses.ts";
import { deleteOldMarkers } from "../db/postgres/batch/markers.ts";
import { migrate } from "../db/postgres/schema/migrate.ts";
import { DatabaseOpenError, databaseOpenErrorOf } from "../db/postgres/connection/open-error.ts";
import { requireRights } from "../db/postgres/connection/open-for-command.ts";
import { countSessions, sessionName } from "../db/postgres/connection/sessions.ts";
import { databaseBytes } from "../db/postgres/schema/size.ts";
import { createPostgresStore } from "../db/postgres/batch/store.ts";
import type { Logger } from "../monitoring/log.ts";
import { type Check, FINE } from "../monitoring/readiness.ts";
import { addressPath } from "../storage/file/open.ts";
import { NameTakenError, type ServerLease, startLease } from "../writer/lease.ts";
import { createPostgresWriter } from "../writer/postgres-writer.ts";
import type { DatabaseEvents, ServerDatabase } from "./database.ts";
import { guardReads } from "./guarded-reads.ts";
import { createKeyFinder } from "./key-finder.ts";
import { MINUTE_MS } from "../domain/values/spans.ts";

const UNREADABLE: Check = { ok: false, detail: "does not answer reads" };
const WITHOUT_STANDBY =
  "cannot acknowledge commits: synchronous_standby_names requires a standby and none is connected; start one";
const MARKERS_MS = MINUTE_MS;
/**
 * Limit for the age of a row when it is committed. A batch waits up to 15 s each for a primary and for the outcome of
 * its COMMIT; the rest allows for a clock that was measured late.
 */
const SETTLES_MS = MINUTE_MS;
/** Limit in milliseconds for ending the lease at a stop, because the database may be away. */
const LEASE_END_MS = 2000;
/** Commands after which a key in memory may be out of date. */
const CHANGES_KEYS: ReadonlySet<string> = new Set([
  "setKeyActive",
  "updateKey",
  "setLimits",
  "deactivateKeys",
  "setUserActive",
  "eraseUser",
  "rotateKey",
  "endExpiredKeys",
]);

type DatabaseConfig = Pick<Config, "data" | "database" | "server">;

/** Opens the database. Throws DatabaseOpenError for problems that the operator can fix. */
export async function openPostgresDatabase(
  config: DatabaseConfig,
  events: DatabaseEvents,
): Promise<ServerDatabase> {
  let name = "the database";
  try {
    const address = parseAddress(config.database!);
    name = describeAddress(address);
    await prepare(address, config.server, events.log);
    return await open(address, config, events);
  } catch (error) {
    throw databaseOpenErrorOf(error, name) ?? error;
  }
}

/** Applies migrations, refuses settings that cannot work, and logs those that weaken durability. */
async function prepare(address: Address, server: string, log: Logger): Promise<void> {
  const database = describeAddress(address);
  const conditions = await readConditions(address, Date.now);
  const difference = clockDifference(conditions);
  if (difference !== null) log.warn({ database }, difference);
  // Without a standby, the lease could not be committed.
  if (isWithoutStandby(conditions)) throw new DatabaseOpenError(`${database} ${WITHOUT_STANDBY}`);
  const migrations = await migrate(address, Date.now());
  await requireRights(address);
  if (migrations.length > 0) log.info({ database, migrations }, "database migrated");
  log.info({ database, server, version: conditions.version }, "database opened");
  for (const weakness of weaknesses(address, conditions)) {
    log.warn({ database, weakness }, "the database may lose acknowledged writes");
  }
}

async function open(
  address: Address,
  { data, server }: DatabaseConfig,
  { log, onCommit }: DatabaseEvents,
): Promise<ServerDatabase> {
  const database = describeAddress(address);
  const addressFile = claimAddressFile(data);
  const id = createId();
  const name = sessionName(id, server);
  let refuseWrites = (): void => {};
  let now = Date.now;
  const store = createPostgresStore(address, {
    name,
    now: () => now(),
    onAcknowledging(acknowledges) {
      if (acknowledges) return log.info({ database }, "the database acknowledges commits again");
      log.error({ database }, "commits wait for a synchronous standby: new writes are refused");
      refuseWrites();
    },
  });
  // Long reads have a connection of their own, because requests would wait behind them.
  const slowStore = createPostgresStore(address, { name, lanes: 0 });
  const closeStores = async () => void (await Promise.all([store.close(), slowStore.close()]));
  const started = startDatabaseClock(store).then(async (clock) => {
    now = clock.now;
    return { clock, lease: await takeLease(store, id, server, clock, log) };
  });
  const { clock, lease } = await started.catch(async (error: unknown) => {
    await closeStores();
    throw error instanceof NameTakenError ? new DatabaseOpenError(error.message) : error;
  });
  const reads = guardReads(store, (readable) => {
    if (readable) log.info({ database }, "the database responds again");
    else log.error({ database }, "the database does not respond: reads are refused");
  });
  const slowReads = guardReads(slowStore, () => {});
  const keys = createKeyFinder(
    (hash) => reads.read((reader) => findCallerKeyByHash(reader, hash)),
    () => performance.now(),
  );
  const writer = createPostgresWriter({
    store,
    now: clock.now,
    onBatch(commands, seconds) {
      if (commands.some((command) => CHANGES_KEYS.has(command.name))) keys.clear();
      onCommit(commands.length, seconds);
    },
    onWritable(writable) {
      if (writable) log.info({ database }, "the database accepts writes again");
      else log.error({ database }, "the database does not accept writes: writes are refused");
    },
  });
  refuseWrites = () => writer.refuseWrites();
  const markers = startMarkerDeletion(store, lease, clock, log);
  return {
    description: database,
    serverId: id,
    now: clock.now,
    writer,
    store: reads,
    slowStore: slowReads,
    findKey: (hash) => keys.find(hash),
    check: () => ({ reads: reads.isReadable() ? FINE : UNREADABLE }),
    figures: {
      databaseBytes: () => slowReads.read(databaseBytes).catch(() => null),
      walBytes: () => null,
      diskFreeBytes: () => null,
    },
    file: null,
    addressFile,
    servers: () => lease.servers(),
    isLeader: () => lease.isLeader(),
    settlesAfterMs: SETTLES_MS,
    onReadError() {},
    async close() {
      await markers.stop();
      await writer.close();
      await Promise.race([lease.end(), Bun.sleep(LEASE_END_MS)]);
      for (const guarded of [reads, slowReads]) guarded.stop();
      await closeStores();
      rmSync(addressFile, { force: true });
    },
  };
}

/** Returns the path of the address file. Creates the --data directory, which holds nothing else. */
function claimAddressFile(data: string): string {
  try {
    mkdirSync(resolve(data), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DatabaseOpenError(
      `the data directory ${resolve(data)} cannot be used (${String(error)}): choose another with --data`,
    );
  }
  return addressPath(data);
}

function takeLease(
  store: Store,
  id: string,
  name: string,
  clock: DatabaseClock,
  log: Logger,
): Promise<ServerLease> {
  return startLease({
    store,
    id,
    name,
    clock,
    isConnected: async (other) => (await store.read((reader) => countSessions(reader, other))) > 0,
    onRenewal(failure) {
      if (failure === null) log.info({ server: name }, "lease renewed again");
      else log.warn({ server: name, failure }, "lease not renewed");
    },
  });
}

/** Deletes old markers regularly; the leader does it for all servers. */
function startMarkerDeletion(store: Store, lease: ServerLease, clock: DatabaseClock, log: Logger) {
  let running = Promise.resolve();
  let isStopped = false;
  const run = async (): Promise<void> => {
    try {
      while (!isStopped && lease.isLeader() && (await deleteOldMarkers(store, clock.now())));
    } catch (error) {
      log.warn({ error: String(error) }, "old batch markers were not deleted");
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, MARKERS_MS);
  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
