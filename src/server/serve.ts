// `reseller serve`: claims the data directory, starts the writer, the servers, the fulfilment and the upkeep, and stops them in order.

import { rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { backupFolder, type Config } from "../config/settings.ts";
import { type Endpoint, formatEndpoint } from "../config/values.ts";
import { type Connection, isFatalError } from "../db/connection.ts";
import { errorCode } from "../domain/errors.ts";
import { fileSystemUnder, isMemoryFileSystem } from "../storage/file-systems.ts";
import { addressPath, claimDataDirectory, openReader } from "../storage/open.ts";
import { createKeyFinder } from "../db/keys.ts";
import type { Order } from "../db/orders.ts";
import { oldestUncheckedAt } from "../db/providers.ts";
import { createSnapshot, type Snapshot } from "../db/snapshot.ts";
import { systemClock } from "../delivery/clock.ts";
import { type DeliveryService, startDelivery } from "../delivery/delivery.ts";
import type { DeliveryDeps } from "../delivery/provider-worker.ts";
import type { Api } from "../http/endpoint.ts";
import { responseTemplate } from "../http/response-template.ts";
import { createRateLimits } from "../http/rate-limits.ts";
import type { Server } from "../http1/listen.ts";
import { startMetricsServer } from "../http/metrics.ts";
import { startServer } from "../http/server.ts";
import { WRITER_THREAD } from "../config/source-files.ts";
import { createLog, type Logger } from "../monitoring/log.ts";
import { freeBytesIn } from "../storage/files.ts";
import { newestBackup } from "../storage/backup-folder.ts";
import { type BackupPlan, startBackups } from "../jobs/backups.ts";
import { startKeyUsage } from "../jobs/key-usage.ts";
import { startExpiry } from "../jobs/expiry.ts";
import { createMetrics, type Metrics, NO_OBSERVER } from "../monitoring/metrics.ts";
import { createReadiness } from "../monitoring/readiness.ts";
import { createStatusCounter } from "../monitoring/status-counter.ts";
import { connectProvider } from "../providers/protocols.ts";
import { readTls, TlsError, type TlsFiles } from "../config/tls.ts";
import { startWriter, type Writer } from "../writer/writer.ts";

/** How long requests in flight may take once a stop was asked for. */
const DRAIN_MS = 10_000;

/** The address cannot be listened on. The message is the system's word for why. */
export class ListenError extends Error {
  override name = "ListenError";

  constructor(
    message: string,
    readonly address: string,
  ) {
    super(message);
  }
}

export interface Service {
  url: string;
  log: Logger;
  /** Makes a backup now, unless one is being made. */
  backUpNow(): void;
  /** Reads the certificate and key again. Those that cannot be used leave the present ones in place. */
  reload(): void;
  /** Answers what is in flight, writes what is queued, checkpoints, and lets the data directory go. */
  stop(): Promise<void>;
}

/** Resolves once requests are answered. `end` is called, after the log's last line, if nothing can be written any more. */
export async function startService(config: Config, end: () => void): Promise<Service> {
  const log = createLog(config.logLevel, config.logFormat);
  const onFatal = () => void log.close().then(end);
  const files = tlsFiles(config);
  const tls = files && readTls(files);
  const { path, migrationCopy, release } = claimDataDirectory(config.data, Date.now());
  if (migrationCopy)
    log.warn({ path, migrationCopy }, "database upgraded, copy of the old one kept");
  if (isMemoryFileSystem(fileSystemUnder(dirname(path))))
    log.warn({ path }, "the data directory is in memory: a reboot loses everything");
  let metrics: Metrics | null = null;
  let snapshot: Snapshot | null = null;
  const writer = await openWriter(path, log, onFatal, (commands, seconds) => {
    // Whoever is answered now may ask at once for what was written.
    snapshot?.end();
    metrics?.commit(commands, seconds);
  });
  const connection = openReader(path);
  const reading = (snapshot = createSnapshot(connection));
  const counting = openReader(path);
  if (config.metricsListen)
    metrics = createMetrics(figures(config, writer, counting, log), packageJson.version);
  const keyUsage = startKeyUsage(writer, log);
  const address = addressPath(dirname(path));
  const close = async () => {
    await keyUsage.stop();
    // The writer closes last: it checkpoints, which a reader would hold up.
    reading.close();
    counting.sqlite.close();
    await writer.close();
    rmSync(address, { force: true });
    release();
  };
  // The servers first: where they cannot listen, nothing must have been sent to a provider.
  const deliveryStarted = Promise.withResolvers<DeliveryService>();
  let delivery: DeliveryService | null = null;
  const api: Api = {
    ...requestSettings(config, log),
    connection,
    snapshot: reading,
    findKey: createKeyFinder(connection, reading),
    writer,
    log,
    observer: metrics ?? NO_OBSERVER,
    inFlight: new Map(),
    onInternalError: (error) => stopUnreadable(error, path, log, onFatal),
    recordKeyUse: (keyId, now) => keyUsage.note(keyId, now),
    placed: async (order: Order) => (await deliveryStarted.promise).placed(order),
    readiness: createReadiness({
      connection,
      writer,
      diskFloorBytes: config.diskFloor,
      isDeliveryOnTime: () => delivery?.isOnTime() ?? true,
    }),
    template: responseTemplate(tls !== null),
  };
  let servers: Servers;
  try {
    servers = startServers(config, metrics, (at) => startServer(api, at, tls));
  } catch (error) {
    await close();
    throw error;
  }
  const started = await startDelivery({
    ...deliverySettings(config),
    connection,
    writer,
    log,
    onSubmission: (outcome) => metrics?.placement(outcome),
  }).catch(async (error: unknown) => {
    // Whoever waits for a placement hears of it; nobody may be waiting.
    deliveryStarted.promise.catch(() => {});
    deliveryStarted.reject(error);
    await Promise.all([servers.api.stop(), servers.metrics?.stop()]);
    await close();
    throw error;
  });
  delivery = started;
  deliveryStarted.resolve(started);
  const expiry = startExpiry(writer, log);
  const backups = startBackups(backupPlan(config, path), log);
  const url = urlOf(tls ? "https" : "http", servers.api);
  writeAddressFile(address, url, log);
  const metricsUrl = servers.metrics && `${urlOf("http", servers.metrics)}/metrics`;
  log.info({ url, path, metrics: metricsUrl }, "started");
  return {
    url,
    log,
    backUpNow: () => backups.backUpNow(),
    reload: () => reloadTls(servers.api, files, log),
    async stop() {
      log.info({}, "stopping");
      const submissions = started.stop(DRAIN_MS);
      const drained = await Promise.race([
        Promise.all([servers.api.stop(), servers.metrics?.stop()]).then(() => true),
        Bun.sleep(DRAIN_MS).then(() => false),
      ]);
      await submissions;
      if (!drained) log.warn({}, "requests were still in flight after 10 s");
      await Promise.all([expiry.stop(), backups.stop()]);
      await close();
      log.info({}, "stopped");
      await log.close();
    },
  };
}

function openWriter(
  path: string,
  log: Logger,
  onFatal: () => void,
  onBatch: (commands: number, seconds: number) => void,
): Promise<Writer> {
  return startWriter({
    path,
    thread: WRITER_THREAD,
    onBatch,
    onWritable(writable) {
      if (writable) log.info({ path }, "the database takes writes again");
      else
        log.error({ path }, "the database takes no writes: no room, or another process holds it");
    },
    onFatal(cause) {
      log.error({ path, cause }, "the database cannot be written any more: stopping");
      onFatal();
    },
  });
}

/** For `health`. A full disk keeps the service from taking orders, not from answering. */
function writeAddressFile(address: string, url: string, log: Logger): void {
  try {
    writeFileSync(address, url, { mode: 0o600 });
  } catch (error) {
    rmSync(address, { force: true });
    log.warn({ address, why: String(error) }, "address not written: tell `health` with --url");
  }
}

function stopUnreadable(error: unknown, path: string, log: Logger, onFatal: () => void): void {
  if (!isFatalError(error)) return;
  log.error({ path, cause: String(error) }, "the database cannot be read any more: stopping");
  onFatal();
}

function deliverySettings(
  config: Config,
): Pick<DeliveryDeps, "clock" | "random" | "settings" | "connect"> {
  return {
    clock: systemClock,
    random: Math.random,
    settings: {
      placeWaitMs: config.placeWait,
      placeRetryMs: config.placeRetry,
      pollIntervalMs: config.pollInterval,
    },
    connect: (provider) => connectProvider(provider, config.providerTimeout),
  };
}

/** What the settings say about requests. */
function requestSettings(config: Config, log: Logger) {
  let isNoted = false;
  return {
    limits: createRateLimits(config.rateLimit),
    trustedProxy: config.trustedProxy,
    logReads: config.logReads,
    noteUntrustedProxy() {
      if (isNoted) return;
      isNoted = true;
      log.warn(
        {},
        "requests come with X-Forwarded-For, but no proxy is trusted: all of them count as one address; name the proxy with --trusted-proxy",
      );
    },
  };
}

function figures(config: Config, writer: Writer, counting: Connection, log: Logger) {
  const { path } = counting;
  const folder = backupFolder(config);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
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
        // The folder cannot be read: the next backup logs it, and the other figures are still to be had.
        return null;
      }
    },
    oldestUncheckedSeconds: () => {
      const uncheckedAt = oldestUncheckedAt(counting);
      return uncheckedAt && (Date.now() - uncheckedAt) / 1000;
    },
    ordersByStatus: createStatusCounter(counting),
    lostLogLines: () => log.lostLines(),
  };
}

interface Servers {
  api: Server;
  metrics: Server | null;
}

/** Both of them or, with ListenError, neither. */
function startServers(
  { host, port, metricsListen }: Config,
  metrics: Metrics | null,
  startApi: (at: { hostname: string; port: number }) => Server,
): Servers {
  const api = listening({ host, port }, startApi);
  if (!metrics || !metricsListen) return { api, metrics: null };
  try {
    return { api, metrics: listening(metricsListen, (at) => startMetricsServer(metrics, at)) };
  } catch (error) {
    void api.stop();
    throw error;
  }
}

function listening(
  endpoint: Endpoint,
  start: (at: { hostname: string; port: number }) => Server,
): Server {
  try {
    return start({ hostname: endpoint.host, port: endpoint.port });
  } catch (error) {
    throw new ListenError(errorCode(error), formatEndpoint(endpoint));
  }
}

function backupPlan(config: Config, path: string): BackupPlan {
  const { data, backupEvery: every, backupKeep: keep } = config;
  return { path, data, every, keep, folder: backupFolder(config) };
}

function tlsFiles({ tlsCert: cert, tlsKey: key }: Config): TlsFiles | null {
  return cert !== null && key !== null ? { cert, key } : null;
}

function reloadTls(server: Server, files: TlsFiles | null, log: Logger): void {
  if (!files) return log.info({}, "nothing to reload: no certificate is in use");
  try {
    // Requests are answered meanwhile: nothing is waited for.
    const tls = readTls(files, 0);
    server.reload(tls);
    log.info({ cert: files.cert, validTo: tls.validTo.toISOString() }, "certificate reloaded");
  } catch (error) {
    const why = error instanceof TlsError ? error.message : String(error);
    log.error({ cert: files.cert, why }, "certificate not reloaded, the old one stays in use");
  }
}

function urlOf(protocol: "http" | "https", { hostname: host, port }: Server): string {
  return `${protocol}://${formatEndpoint({ host, port })}`;
}
