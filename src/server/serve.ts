// `reseller serve`: starts the database, the listeners, the delivery and the background jobs, and stops them in order.

import packageJson from "../../package.json" with { type: "json" };
import { backupFolder, type Config, environmentWith, REMOTE_FLAGS } from "../config/settings.ts";
import { type DeliveryService, startDelivery } from "../delivery/delivery.ts";
import { startServer } from "../http/server.ts";
import { startBackups } from "../jobs/backups.ts";
import { startExpiry } from "../jobs/expiry.ts";
import { type Offsite, startOffsite } from "../jobs/offsite.ts";
import { startKeyUsage } from "../jobs/key-usage.ts";
import { createLog, type Logger } from "../monitoring/log.ts";
import { createMetrics, type Metrics } from "../monitoring/metrics.ts";
import { readCertificate, reloadCertificate } from "./certificate.ts";
import { openServerDatabase } from "./database.ts";
import { apiDeps, createPending, deliveryDeps } from "./wiring.ts";
import { readGauges } from "./gauges.ts";
import { type Listeners, startListeners, urlOf, writeAddressFile } from "./listeners.ts";

/** How long requests in flight may take after SIGTERM. */
const DRAIN_MS = 10_000;

export interface Service {
  url: string;
  log: Logger;
  /** Starts a backup now, unless one is running. */
  backUpNow(): void;
  /** Reads the certificate and key again. Invalid ones leave the present ones in use. */
  reload(): void;
  /** Completes requests in flight and queued writes, checkpoints, and releases the data directory. */
  stop(): Promise<void>;
}

/** Resolves once the service is ready. `end` is called after a fatal database error, once the log is written. */
export async function startService(config: Config, end: () => void): Promise<Service> {
  const log = createLog(config.logLevel, config.logFormat);
  const onFatal = () => void log.close().then(end);
  const tls = readCertificate(config);

  let metrics: Metrics | null = null;
  let offsite: Offsite | null = null;
  const onCommit = (commands: number, seconds: number) => metrics?.commit(commands, seconds);
  const database = await openServerDatabase(config.data, config.checkpoint, log, onFatal, onCommit);
  const { path, writer, slowReader } = database;
  if (config.metricsListen) {
    metrics = createMetrics(
      readGauges(config, slowReader, writer, log, () => offsite?.newestAt() ?? null),
      packageJson.version,
    );
  }
  const keyUsage = startKeyUsage(writer, log);
  const closeDatabase = async () => {
    await keyUsage.stop();
    await database.close();
  };

  // The listeners first: if they cannot listen, nothing must have been sent to a provider.
  const pending = createPending<DeliveryService>();
  const started = { database, log, metrics, keyUsage, delivery: pending, isTls: tls !== null };
  let listeners: Listeners;
  try {
    const deps = apiDeps(config, started);
    listeners = startListeners(config, metrics, (address) => startServer(deps, address, tls));
  } catch (error) {
    await closeDatabase();
    throw error;
  }

  const delivery = await startDelivery(deliveryDeps(config, started)).catch(async (error) => {
    pending.reject(error);
    await listeners.stop();
    await closeDatabase();
    throw error;
  });
  pending.resolve(delivery);

  const expiry = startExpiry(writer, log);
  const { data, backupEvery: every, backupKeep: keep } = config;
  const folder = backupFolder(config);
  offsite =
    config.backupTo && startOffsite({ data, folder, environment: remoteEnvironment(config) }, log);
  const onMade = (file: string) => offsite?.copy(file);
  const inUse = () => offsite?.inUse() ?? null;
  const backups = startBackups(
    { path, data, every, keep, folder, checkpoint: config.checkpoint, onMade, inUse },
    log,
  );
  const url = urlOf(tls ? "https" : "http", listeners.api);
  writeAddressFile(database.addressFile, url, log);
  log.info({ url, path, metrics: listeners.metricsUrl }, "started");

  return {
    url,
    log,
    backUpNow: () => backups.backUpNow(),
    reload: () => reloadCertificate(config, listeners.api, log),
    async stop() {
      log.info({}, "stopping");
      // Both at once: requests wait for their orders' deliveries.
      const delivered = delivery.stop(DRAIN_MS);
      const drained = await Promise.race([
        listeners.stop().then(() => true),
        Bun.sleep(DRAIN_MS).then(() => false),
      ]);
      await delivered;
      if (!drained) log.warn({}, "requests were still in flight after 10 s");
      await Promise.all([expiry.stop(), backups.stop(), offsite?.stop()]);
      await closeDatabase();
      log.info({}, "stopped");
      await log.close();
    },
  };
}

/** For the process that copies a backup off-site. */
function remoteEnvironment(config: Config): Record<string, string | undefined> {
  const flags = [...REMOTE_FLAGS, "backup-keep-remote", "backup-recipient"] as const;
  return environmentWith(config, flags);
}
