// Metrics whose values are read at each scrape.

import { backupFolder } from "../config/flags.ts";
import type { Config } from "../config/settings.ts";
import { countOpenAlerts } from "../db/webhooks/alerts.ts";
import { readPaymentFacts } from "../db/payments/payments.ts";
import { countOpenRequests } from "../db/orders/order-request-lists.ts";
import { type Awaitable, type Reader, TransientError } from "../db/port/port.ts";
import { readHeldOrders } from "../db/delivery/held-orders.ts";
import { listProviders, readProviderOrders } from "../db/providers/providers.ts";
import { countWaitingMails } from "../db/mails/mails.ts";
import { countDisabledWebhooks, oldestUndeliveredAt } from "../db/webhooks/webhook-figures.ts";
import { isPaused } from "../domain/alerts/provider-conditions.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Figures, ProviderFigures } from "../monitoring/figures.ts";
import { createStatusCounter } from "../reports/status-counter.ts";
import { type NewestBackups, newestBackups } from "../storage/backup/backup-folder.ts";
import type { ConnectionPool } from "../http1/connection-pool.ts";
import type { ConnectionPools } from "./connection-limits.ts";
import type { ServerDatabase } from "./database.ts";

/** Creates the figures. They are read with `slowStore`, because counting orders by status holds a snapshot for long. */
export function createFigures(
  config: Config,
  database: ServerDatabase,
  pools: ConnectionPools,
  log: Logger,
  newestRemoteAt: () => number | null,
): Figures {
  const { writer, slowStore, figures, file, settlesAfterMs } = database;
  const folder = backupFolder(config);
  const { read: countStatuses } = createStatusCounter(slowStore, settlesAfterMs, () =>
    database.now(),
  );
  const backups = (now: number): NewestBackups | null => {
    if (file === null) return null;
    try {
      return newestBackups(config.data, folder, now);
    } catch {
      // If the folder cannot be read, the next backup logs it, and the other figures remain available.
      return null;
    }
  };
  return {
    ...figures,
    connections: () =>
      Object.entries(pools).map(([listener, pool]: [string, ConnectionPool]) => ({
        listener,
        ...pool.figures(),
      })),
    servers: () => database.servers(),
    queueLength: () => writer.queueLength(),
    backupAgeSeconds() {
      const now = Date.now();
      const { verified } = backups(now) ?? { verified: null };
      return verified && (now - verified.begunAt) / 1000;
    },
    backupVerified() {
      const newest = backups(Date.now())?.newest;
      return newest ? Number(newest.isVerified) : null;
    },
    remoteBackupAgeSeconds() {
      const begunAt = newestRemoteAt();
      return begunAt && (Date.now() - begunAt) / 1000;
    },
    providers: () =>
      unlessAway(() => slowStore.read((reader) => providerFigures(reader, database.now()))),
    async oldestUndeliveredSeconds() {
      const createdAt = await unlessAway(() => slowStore.read(oldestUndeliveredAt));
      return createdAt && (database.now() - createdAt) / 1000;
    },
    openAlerts: () => unlessAway(() => slowStore.read(countOpenAlerts)),
    mailsWaiting: () => unlessAway(() => slowStore.read(countWaitingMails)),
    disabledWebhooks: () => unlessAway(() => slowStore.read(countDisabledWebhooks)),
    openOrderRequests: () => unlessAway(() => slowStore.read(countOpenRequests)),
    payments: () => unlessAway(() => slowStore.read(readPaymentFacts)),
    ordersByStatus: () => unlessAway(countStatuses),
    lostLogLines: () => log.lostLines(),
  };
}

function providerFigures(reader: Reader, now: number): ProviderFigures[] {
  return reader.each(listProviders(reader), (provider) => {
    const { providerId, name } = provider;
    const { unknown, oldestUncheckedAt } = readProviderOrders(reader, providerId);
    const seconds = oldestUncheckedAt === null ? null : (now - oldestUncheckedAt) / 1000;
    const held = provider.pausedBy === "funds" ? readHeldOrders(reader, providerId).orders : 0;
    return { name, unknown, isPaused: isPaused(provider), held, oldestUncheckedSeconds: seconds };
  });
}

/** Returns null while the database does not respond, so that the other figures remain available. */
async function unlessAway<T>(read: () => Awaitable<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TransientError) return null;
    throw error;
  }
}
