// The values that are read at each scrape.

import { dirname } from "node:path";
import { backupFolder, type Config } from "../config/settings.ts";
import type { Connection } from "../db/connection.ts";
import { oldestUncheckedAt } from "../db/providers.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Figures } from "../monitoring/metrics.ts";
import { createStatusCounter } from "../monitoring/status-counter.ts";
import { newestBackup } from "../storage/backup-folder.ts";
import { freeBytesIn, sizeOf } from "../storage/files.ts";
import type { Writer } from "../writer/writer.ts";

/** `connection`: a reader of its own, because counting orders by status holds a snapshot for long. */
export function readGauges(
  config: Config,
  connection: Connection,
  writer: Writer,
  log: Logger,
  newestRemoteAt: () => number | null,
): Figures {
  const { path } = connection;
  const folder = backupFolder(config);
  return {
    queueLength: () => writer.queueLength(),
    databaseBytes: () => sizeOf(path),
    walBytes: () => sizeOf(`${path}-wal`),
    diskFreeBytes: () => freeBytesIn(dirname(path)),
    backupAgeSeconds() {
      const now = Date.now();
      try {
        const newest = newestBackup(config.data, folder, now);
        return newest && (now - newest.begunAt) / 1000;
      } catch {
        // The folder cannot be read: the next backup logs it, and the other figures remain available.
        return null;
      }
    },
    remoteBackupAgeSeconds() {
      const begunAt = newestRemoteAt();
      return begunAt && (Date.now() - begunAt) / 1000;
    },
    oldestUncheckedSeconds() {
      const uncheckedAt = oldestUncheckedAt(connection);
      return uncheckedAt && (Date.now() - uncheckedAt) / 1000;
    },
    ordersByStatus: createStatusCounter(connection),
    lostLogLines: () => log.lostLines(),
  };
}
