// The database of a running server: the data directory's lock, the writer thread and the connections that read.

import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { WRITER_THREAD } from "../config/source-files.ts";
import { type Connection, isFatalError } from "../db/connection.ts";
import { createSnapshot, type Snapshot } from "../db/snapshot.ts";
import type { Logger } from "../monitoring/log.ts";
import type { CheckpointMode } from "../storage/checkpoint.ts";
import { fileSystemUnder, isMemoryFileSystem } from "../storage/file-systems.ts";
import { sizeOf } from "../storage/files.ts";
import { hasLitestream } from "../storage/litestream.ts";
import { addressPath, claimDataDirectory, openReader } from "../storage/open.ts";
import { startWriter, type Writer, type WriterOptions } from "../writer/writer.ts";

export interface ServerDatabase {
  /** Absolute path of the database. */
  path: string;
  /** Path of the file with the server's address; deleted when the database is closed. */
  addressFile: string;
  writer: Writer;
  /** For the reads of requests: the connection on which `snapshot` reads. */
  connection: Connection;
  snapshot: Snapshot;
  /** For long reads, which would hold the requests' snapshot open. */
  slowReader: Connection;
  /** Logs a fatal error of a read and ends the server. */
  onReadError(error: unknown): void;
  close(): Promise<void>;
}

/** `onFatal` is called after a fatal database error; `onCommit` after each batch, before its responses are sent. */
export async function openServerDatabase(
  data: string,
  mode: CheckpointMode,
  log: Logger,
  onFatal: () => void,
  onCommit: (commands: number, seconds: number) => void,
): Promise<ServerDatabase> {
  const { path, migrationCopy, release } = claimDataDirectory(data, Date.now());
  const folder = dirname(path);
  if (migrationCopy)
    log.warn({ path, migrationCopy }, "database upgraded, copy of the old one kept");
  if (isMemoryFileSystem(fileSystemUnder(folder)))
    log.warn({ path }, "the data directory is in memory: a reboot loses everything");
  let snapshot: Snapshot | null = null;
  const writer = await startWriter({
    path,
    thread: WRITER_THREAD,
    mode,
    onBatch(commands, seconds) {
      // A caller must read its own writes: the next read takes a new snapshot.
      snapshot?.end();
      onCommit(commands, seconds);
    },
    ...writerLog(path, log, onFatal),
  });
  const connection = openReader(path);
  if (mode === "internal" && hasLitestream(connection.sqlite))
    log.warn(
      { path },
      "Litestream replicates this database or did: beside it run with --checkpoint external, or a replica may not restore",
    );
  const opened = (snapshot = createSnapshot(connection));
  const slowReader = openReader(path);
  const addressFile = addressPath(folder);
  return {
    path,
    addressFile,
    writer,
    connection,
    snapshot: opened,
    slowReader,
    onReadError(error) {
      if (!isFatalError(error)) return;
      log.error({ path, cause: String(error) }, "the database cannot be read any more: stopping");
      onFatal();
    },
    async close() {
      opened.close();
      slowReader.sqlite.close();
      // The writer closes last: an open reader would keep its checkpoint from completing.
      await writer.close();
      rmSync(addressFile, { force: true });
      release();
    },
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
        "the write-ahead log is long: does Litestream run? It is checkpointed here now",
      );
    },
    onWritable(writable) {
      if (writable) log.info({ path }, "the database takes writes again");
      else
        log.error({ path }, "the database takes no writes: no room, or another process holds it");
    },
    onFatal(cause) {
      log.error({ path, cause }, "the database cannot be written any more: stopping");
      onFatal();
    },
  };
}
