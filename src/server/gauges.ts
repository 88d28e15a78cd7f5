// The values that are read at each scrape.

import { backupFolder, type Config } from "../config/settings.ts";
import { after } from "../db/port.ts";
import { oldestUncheckedAt } from "../db/providers.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Figures } from "../monitoring/metrics.ts";
import { createStatusCounter } from "../monitoring/status-counter.ts";
import { newestBackup } from "../storage/backup-folder.ts";
import type { ServerDatabase } from "./database.ts";

/** Reads with `slowStore`, because counting orders by status holds a snapshot for long. */
export function readGauges(config: Config, database: ServerDatabase, log: Logger): Figures {
  const { writer, slowStore, figures } = database;
  const folder = backupFolder(config);
  return {
    ...figures,
    queueLength: () => writer.queueLength(),
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
    oldestUncheckedSeconds: () =>
      after(
        slowStore.read((reader) => oldestUncheckedAt(reader)),
        (uncheckedAt) => uncheckedAt && (Date.now() - uncheckedAt) / 1000,
      ),
    ordersByStatus: createStatusCounter(slowStore),
    lostLogLines: () => log.lostLines(),
  };
}
