// The values that are read at each scrape.

import { backupFolder } from "../config/flags.ts";
import type { Config } from "../config/settings.ts";
import { countOpenAlerts } from "../db/alerts.ts";
import { countOpenRequests } from "../db/order-request-lists.ts";
import { type Awaitable, type Reader, TransientError } from "../db/port.ts";
import { listProviders, readProviderOrders } from "../db/providers.ts";
import { countDisabledWebhooks, oldestUndeliveredAt } from "../db/webhook-figures.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Figures, ProviderFigures } from "../monitoring/metrics.ts";
import { createStatusCounter } from "../monitoring/status-counter.ts";
import { newestBackup } from "../storage/backup-folder.ts";
import type { ServerDatabase } from "./database.ts";

/** Reads with `slowStore`, because counting orders by status holds a snapshot for long. */
export function readGauges(
  config: Config,
  database: ServerDatabase,
  log: Logger,
  newestRemoteAt: () => number | null,
): Figures {
  const { writer, slowStore, figures, file, settlesAfterMs } = database;
  const folder = backupFolder(config);
  const countStatuses = createStatusCounter(slowStore, settlesAfterMs);
  return {
    ...figures,
    servers: () => database.servers(),
    queueLength: () => writer.queueLength(),
    backupAgeSeconds() {
      if (file === null) return null;
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
    providers: () => unlessAway(() => slowStore.read(providerFigures)),
    async oldestUndeliveredSeconds() {
      const createdAt = await unlessAway(() => slowStore.read(oldestUndeliveredAt));
      return createdAt && (Date.now() - createdAt) / 1000;
    },
    openAlerts: () => unlessAway(() => slowStore.read(countOpenAlerts)),
    disabledWebhooks: () => unlessAway(() => slowStore.read(countDisabledWebhooks)),
    openOrderRequests: () => unlessAway(() => slowStore.read(countOpenRequests)),
    ordersByStatus: () => unlessAway(countStatuses),
    lostLogLines: () => log.lostLines(),
  };
}

function providerFigures(reader: Reader): ProviderFigures[] {
  const now = Date.now();
  return reader.each(listProviders(reader), ({ providerId, name }) => {
    const { unknown, oldestUncheckedAt } = readProviderOrders(reader, providerId);
    const seconds = oldestUncheckedAt === null ? null : (now - oldestUncheckedAt) / 1000;
    return { name, unknown, oldestUncheckedSeconds: seconds };
  });
}

/** Null while the database does not answer: the other figures remain available. */
async function unlessAway<T>(read: () => Awaitable<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TransientError) return null;
    throw error;
  }
}
