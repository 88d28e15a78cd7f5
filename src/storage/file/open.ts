// Opens the database after checking that it can be used. Each refusal is one sentence. `serve` takes the lock, and
// creates or migrates the database. Every other command requires an existing database with this program's schema, and
// never checkpoints, because a server may be running.

import { Database } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Connection, connectPort } from "../../db/sqlite/connection.ts";
import type { CheckpointMode } from "./checkpoint.ts";
import { waitForLocks } from "./busy-timeout.ts";
import { type Lock, takeLock } from "./lock.ts";
import type { Migration } from "../../db/port/database-state.ts";
import { MIGRATIONS, pendingMigrations } from "./migrate.ts";
import { settleReplaced, STAGING_FOLDER } from "../backup/replaced-file.ts";
import { fileSystemUnder, isNetworkFileSystem } from "./file-systems.ts";
import { sizeOf, syncPath, whyNoFile } from "./files.ts";
import { OpenError, openErrorOf } from "./open-error.ts";
import { refuseMoveBegun } from "../move/unfinished-move.ts";
import { upgrade } from "./upgrade.ts";
import { errorCode } from "../../domain/values/error-table.ts";

/** Minimum version: older ones can lose commits when two connections write and checkpoint at the same time. */
const SQLITE_MINIMUM = [3, 51, 3] as const;
/** Page cache of the writer: 16 MiB, so that the pages used by a batch of orders stay in memory. */
const CACHE_KIB = 16 * 1024;
const WAL_KEPT_BYTES = 32 * 1024 * 1024;

const DATABASE_FILE = "reseller.db";
const LOCK_FILE = "instance.lock";
/** Folders in a data directory that this program or the file system creates. */
const OWN_FOLDERS = new Set(["backups", STAGING_FOLDER, "lost+found"]);

export function databasePath(dataDirectory: string): string {
  return join(resolve(dataDirectory), DATABASE_FILE);
}

/** Returns the path of the file in which a running server stores its address. */
export function addressPath(dataDirectory: string): string {
  return join(resolve(dataDirectory), "serve.address");
}

/** Returns the path of the file in which a running server stores the address of its panel. */
export function panelAddressPath(dataDirectory: string): string {
  return join(resolve(dataDirectory), "panel.address");
}

/** Returns the path of the file in which a running server stores the address of its portal. */
export function portalAddressPath(dataDirectory: string): string {
  return join(resolve(dataDirectory), "portal.address");
}

export interface Instance {
  /** Absolute path of the database. */
  path: string;
  /** The copy of the database from before an upgrade; null if none was made. */
  migrationCopy: string | null;
  /** Releases the lock of the data directory. */
  release: () => void;
}

/**
 * Creates, locks and migrates a data directory, for `serve` or for a move to it. A move gives `mark`, which marks the
 * database as unfinished before its tables are created.
 */
export function claimDataDirectory(
  dataDirectory: string,
  now: number,
  mark?: (path: string) => void,
): Instance {
  const path = databasePath(dataDirectory);
  const release = lockDataDirectory(dataDirectory);
  try {
    settleReplaced(path);
    if (mark) mark(path);
    else refuseMoveBegun(path);
    const { sqlite, pending } = openFile(path, true, mark !== undefined);
    try {
      const migrationCopy = upgrade(sqlite, path, pending, now);
      chmodSync(path, 0o600);
      return { path, migrationCopy, release };
    } finally {
      sqlite.close(true);
    }
  } catch (error) {
    release();
    throw openErrorOf(error, path) ?? error;
  }
}

/** Creates the data directory if it is missing. Locks out every other server until the returned function is called. */
export function lockDataDirectory(dataDirectory: string): () => void {
  const directory = resolve(dataDirectory);
  requireSqliteVersion();
  createDirectory(directory);
  refuseNetworkFileSystem(directory);
  const lock = lockForServer(directory);
  return () => lock.release();
}

/** Opens the server's writing connection. Call it only after claimDataDirectory. */
export function openWriter(path: string, mode: CheckpointMode = "internal"): Connection {
  const { sqlite } = openFile(path, false);
  sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  // The WAL file can grow during a long reader. When it restarts, it is truncated to this size. With a replicator it is
  // not truncated, because the replicator may not have copied the end.
  sqlite.run(`PRAGMA journal_size_limit = ${mode === "external" ? -1 : WAL_KEPT_BYTES}`);
  return connectPort(sqlite, path, true);
}

/** Opens a connection that cannot write, for reads beside the writer. */
export function openReader(path: string): Connection {
  const sqlite = new Database(path, { readonly: true });
  waitForLocks(sqlite);
  sqlite.run("PRAGMA query_only = ON");
  return connectPort(sqlite, path);
}

/**
 * Opens the database for the command line; it must exist and have this program's schema. `mayBeUnfinished`: allows
 * the mark of an unfinished move, for the move itself.
 */
export function openForCommand(dataDirectory: string, mayBeUnfinished = false): Connection {
  const path = databasePath(dataDirectory);
  requireSqliteVersion();
  if (!mayBeUnfinished) refuseMoveBegun(path);
  requireDatabase(path);
  refuseNetworkFileSystem(resolve(dataDirectory));
  const { sqlite, pending } = openFile(path, false, mayBeUnfinished);
  try {
    if (pending.length > 0) {
      throw new OpenError(
        `${path} was written by an older version: run this version's \`reseller serve\` once. It upgrades the database and keeps a copy`,
      );
    }
    return connectPort(sqlite, path);
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** Pages of the write-ahead log after which a command without a server beside it copies them into the file: 16 MB. */
const CHECKPOINT_PAGES = 4000;

/**
 * Opens the database like openForCommand. If no server runs, it keeps servers out until `release` is called; otherwise
 * `release` is null.
 */
export function openBesideOrAlone(
  dataDirectory: string,
): Connection & { release: (() => void) | null } {
  const connection = openForCommand(dataDirectory);
  try {
    const lock = takeLock(join(resolve(dataDirectory), LOCK_FILE));
    if (!lock) return { ...connection, release: null };
    connection.sqlite.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    return { ...connection, release: () => lock.release() };
  } catch (error) {
    closeForCommand(connection);
    throw error;
  }
}

/**
 * Closes the connection of openForCommand. close(true) also finalizes its prepared statements. Otherwise Bun closes the
 * connection when the process ends, with a checkpoint, which delays the writer of a running server.
 */
export function closeForCommand({ sqlite }: Connection): void {
  sqlite.close(true);
}

export function sqliteVersion(): string {
  const memory = new Database(":memory:");
  const { version } = memory.query("SELECT sqlite_version() AS version").get() as {
    version: string;
  };
  memory.close();
  return version;
}

interface OpenFile {
  sqlite: Database;
  pending: Migration[];
}

/** Opens the file. Refuses another program's file before anything is written to it. */
function openFile(path: string, create: boolean, mayBeUnfinished = false): OpenFile {
  let sqlite: Database | undefined;
  try {
    refuseIrregularFile(path);
    if (sizeOf(`${path}-wal`) > 0) refuseUnusable(path, mayBeUnfinished);
    sqlite = new Database(path, { readwrite: true, create });
    waitForLocks(sqlite);
    const pending = pendingMigrations(sqlite, path, MIGRATIONS, mayBeUnfinished);
    const { journal_mode: mode } = sqlite.query("PRAGMA journal_mode = WAL").get() as {
      journal_mode: string;
    };
    if (mode !== "wal") {
      throw new OpenError(
        `the file system of ${path} does not support a write-ahead log (journal mode stayed ${mode}): put --data on a local disk`,
      );
    }
    sqlite.run("PRAGMA synchronous = FULL");
    sqlite.run("PRAGMA foreign_keys = ON");
    sqlite.run("PRAGMA mmap_size = 0");
    sqlite.run("PRAGMA temp_store = MEMORY");
    // A running server checkpoints by itself (storage/file/checkpoint.ts); a checkpoint of a command would delay its
    // writer.
    sqlite.run("PRAGMA wal_autocheckpoint = 0");
    return { sqlite, pending };
  } catch (error) {
    sqlite?.close();
    throw openErrorOf(error, path) ?? error;
  }
}

/**
 * Refuses a database that has a log before it is opened for writing: closing a connection that can write would copy the
 * log into the file.
 */
function refuseUnusable(path: string, mayBeUnfinished: boolean): void {
  const sqlite = new Database(path, { readonly: true });
  try {
    waitForLocks(sqlite);
    pendingMigrations(sqlite, path, MIGRATIONS, mayBeUnfinished);
  } finally {
    sqlite.close(true);
  }
}

/** Refuses a path that is not a regular file. A missing file is allowed. */
function refuseIrregularFile(path: string): void {
  const why = whyNoFile(path);
  if (why) throw new OpenError(`${why}, not a database: choose another folder with --data`);
}

/** Refuses a database that does not exist, is not a file, or is empty. */
function requireDatabase(path: string): void {
  let why: string;
  try {
    refuseIrregularFile(path);
    if (statSync(path).size > 0) return;
    why = `the database at ${path} is empty`;
  } catch (error) {
    if (error instanceof OpenError) throw error;
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      throw new OpenError(
        `${path} is not accessible (${code}): check the owner and permissions of the file and its folder, or run this as the service's user`,
      );
    }
    why = `no database at ${path}`;
  }
  throw new OpenError(
    `${why}: choose its folder with --data, or run \`reseller serve\` to create one`,
  );
}

function createDirectory(directory: string): void {
  try {
    const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
    // SQLite syncs the data directory, but not the parent folder of the first directory that was created.
    if (first !== undefined) syncPath(dirname(first));
    if (isOurs(directory)) chmodSync(directory, 0o700);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenError(
      `the data directory ${directory} cannot be used (${why}): choose another with --data`,
    );
  }
}

/**
 * Returns whether the mode of a folder may be set to 0700: not if it has the sticky bit, which marks a shared folder,
 * or holds folders of other users. `--data /tmp` or `--data /srv` must never lock other users out.
 */
function isOurs(directory: string): boolean {
  if ((statSync(directory).mode & 0o1000) !== 0) return false;
  return readdirSync(directory, { withFileTypes: true }).every(
    (entry) => !entry.isDirectory() || OWN_FOLDERS.has(entry.name),
  );
}

/** Takes the lock that allows only one `serve` for each data directory. */
function lockForServer(directory: string): Lock {
  const path = join(directory, LOCK_FILE);
  let lock: Lock | null;
  try {
    lock = takeLock(path);
  } catch (error) {
    throw openErrorOf(error, path) ?? error;
  }
  if (lock) return lock;
  throw new OpenError(
    `another server uses ${databasePath(directory)}: stop it first, or choose another folder with --data`,
  );
}

function requireSqliteVersion(): void {
  const found = sqliteVersion();
  const parts = found.split(".").map(Number);
  for (const [index, minimum] of SQLITE_MINIMUM.entries()) {
    const part = parts[index] ?? 0;
    if (part > minimum) return;
    if (part < minimum) {
      throw new OpenError(
        `this binary contains SQLite ${found}, which can lose commits: build it with SQLite ${SQLITE_MINIMUM.join(".")} or later`,
      );
    }
  }
}

function refuseNetworkFileSystem(directory: string): void {
  const type = fileSystemUnder(directory);
  if (type && isNetworkFileSystem(type)) {
    throw new OpenError(
      `${databasePath(directory)} is on a network file system (${type}), where SQLite loses data: put --data on a local disk`,
    );
  }
}
