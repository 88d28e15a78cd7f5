// The database of a running server, on SQLite: the data directory's lock, the writer thread and the connections that
// read.

import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { WRITER_THREAD } from "../config/source-files.ts";
import { createId } from "../db/port/ids.ts";
import { createKeyFinder } from "../db/sqlite/key-cache.ts";
import type { Connection } from "../db/sqlite/connection.ts";
import { isFatalError } from "../db/sqlite/errors.ts";
import { createSnapshot, type Snapshot } from "../db/sqlite/snapshot.ts";
import { formatSize } from "../domain/values/units.ts";
import type { Logger } from "../monitoring/log.ts";
import type { DatabaseFigures } from "../monitoring/figures.ts";
import { type Check, FINE } from "../monitoring/readiness.ts";
import type { CheckpointMode } from "../storage/file/checkpoint.ts";
import { fileSystemUnder, isMemoryFileSystem } from "../storage/file/file-systems.ts";
import { freeBytesIn, sizeOf } from "../storage/file/files.ts";
import { hasLitestream } from "../storage/file/litestream.ts";
import { pendingMigrations } from "../storage/file/migrate.ts";
import { addressPath, claimDataDirectory, openReader } from "../storage/file/open.ts";
import type { ThreadAhead } from "../writer/thread-ahead.ts";
import { startWriter, type WriterOptions } from "../writer/writer.ts";
import type { DatabaseEvents, ServerDatabase } from "./database.ts";

export interface SqliteOptions {
  /** The data directory. */
  data: string;
  /** Bytes of free disk space below which the server is not ready. */
  diskFloor: number;
  /** Who checkpoints the write-ahead log. */
  checkpoint: CheckpointMode;
  /** The entry file of the writer's thread, if it is not the one of the source tree or the binary. */
  thread?: URL;
}

export async function openSqliteDatabase(
  { data, diskFloor, checkpoint, thread = WRITER_THREAD }: SqliteOptions,
  { log, onFatal, onCommit }: DatabaseEvents,
  ahead: ThreadAhead | null = null,
): Promise<ServerDatabase> {
  const { path, migrationCopy, release } = claimDataDirectory(data, Date.now());
  const folder = dirname(path);
  if (migrationCopy)
    log.warn({ path, migrationCopy }, "database upgraded; a copy of the old one was kept");
  if (isMemoryFileSystem(fileSystemUnder(folder)))
    log.warn({ path }, "the data directory is in memory: everything is lost on reboot");
  let snapshot: Snapshot | null = null;
  const writer = await startWriter({
    path,
    thread,
    ahead,
    mode: checkpoint,
    onBatch(commands, seconds) {
      // A caller must read its own writes: the next read takes a new snapshot.
      snapshot?.end();
      onCommit(commands, seconds);
    },
    ...writerLog(path, log, onFatal),
  });
  let readers: ReturnType<typeof openReaders>;
  try {
    readers = openReaders(path);
  } catch (error) {
    // An open writer thread would keep the process from ending.
    await writer.close();
    release();
    throw error;
  }
  const { store, slowReader, findCached, hasReplicator } = readers;
  snapshot = store;
  if (checkpoint === "internal" && hasReplicator)
    log.warn(
      { path },
      "this database has Litestream tables: with Litestream, run with --checkpoint external, or replicas may fail to restore",
    );
  const addressFile = addressPath(folder);
  return {
    description: path,
    serverId: createId(),
    now: Date.now,
    writer,
    store,
    slowStore: slowReader.store,
    findKey: (hash) => store.read(() => findCached(hash)),
    check: () => ({
      disk: checkDisk(folder, diskFloor),
      migrations: checkMigrations(slowReader),
    }),
    figures: readFigures(path),
    file: path,
    addressFile,
    servers: () => 1,
    isLeader: () => true,
    settlesAfterMs: 0,
    onReadError(error) {
      if (!isFatalError(error)) return;
      log.error({ path, cause: String(error) }, "the database can no longer be read: stopping");
      onFatal();
    },
    async close() {
      store.close();
      slowReader.sqlite.close(true);
      // The writer closes last: an open reader would keep its checkpoint from completing.
      await writer.close();
      rmSync(addressFile, { force: true });
      release();
    },
  };
}

function openReaders(path: string) {
  const connection = openReader(path);
  const store = createSnapshot(connection);
  return {
    store,
    slowReader: openReader(path),
    findCached: createKeyFinder(connection.store.reader, store),
    hasReplicator: hasLitestream(connection.sqlite),
  };
}

function writerLog(
  path: string,
  log: Logger,
  onFatal: () => void,
): Pick<WriterOptions, "onWritable" | "onFatal" | "onLongWal"> {
  return {
    onLongWal() {
      log.warn(
        { path, bytes: sizeOf(`${path}-wal`) },
        "the write-ahead log is long: check that Litestream is running; this server checkpoints it now",
      );
    },
    onWritable(writable) {
      if (writable) log.info({ path }, "the database accepts writes again");
      else
        log.error(
          { path },
          "the database does not accept writes: the disk is full or another process holds the lock",
        );
    },
    onFatal(cause) {
      log.error({ path, cause }, "the database can no longer be written: stopping");
      onFatal();
    },
  };
}

function readFigures(path: string): DatabaseFigures {
  return {
    databaseBytes: () => sizeOf(path),
    walBytes: () => sizeOf(`${path}-wal`),
    diskFreeBytes: () => freeBytesIn(dirname(path)),
  };
}

function checkDisk(folder: string, floor: number): Check {
  if (freeBytesIn(folder) >= floor) return FINE;
  return { ok: false, detail: `less than ${formatSize(floor)} free` };
}

function checkMigrations({ sqlite, path }: Connection): Check {
  try {
    const pending = pendingMigrations(sqlite, path).length;
    return pending === 0 ? FINE : { ok: false, detail: `${pending} not applied` };
  } catch {
    return { ok: false, detail: "the schema differs from this binary's" };
  }
}
