// `reseller serve`: claims the data directory, starts the writer, the fulfilment and the HTTP server, and stops them in order.

import { rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { backupFolder, type Config } from "./config.ts";
import { isFatalTrouble } from "./db/connection.ts";
import { addressPath, claimDataDirectory, openReader } from "./db/open.ts";
import { type Server, startServer } from "./http/server.ts";
import type { Order } from "./db/orders.ts";
import { systemClock } from "./fulfilment/clock.ts";
import { type Fulfilment, startFulfilment } from "./fulfilment/fulfilment.ts";
import { createLog } from "./log.ts";
import { type BackupPlan, startBackups } from "./maintenance/backups.ts";
import { startForgetting } from "./maintenance/used-keys.ts";
import { connectProvider } from "./providers/protocols.ts";
import { startWriter } from "./writer/writer.ts";

/** Named from this folder, where it is in the binary too: its two entry points are bundled below src. */
const WRITER_THREAD = new URL("./writer/thread.ts", import.meta.url);
/** How long requests in flight may take once a stop was asked for. */
const DRAIN_MILLISECONDS = 10_000;

/** The address cannot be listened on. The message is the system's word for why. */
export class ListenError extends Error {
  override name = "ListenError";
}

export interface Service {
  url: string;
  /** Makes a backup now, unless one is being made. */
  backUpNow(): void;
  /** Answers what is in flight, writes what is queued, checkpoints, and lets the data directory go. */
  stop(): Promise<void>;
}

/** Resolves once requests are answered. `onFatal` is called if nothing can be written any more. */
export async function startService(config: Config, onFatal: () => void): Promise<Service> {
  const log = createLog(config.logLevel);
  const { path, keptCopy, release } = claimDataDirectory(config.data, Date.now());
  if (keptCopy) log.warn({ path, keptCopy }, "database upgraded, copy of the old one kept");
  const writer = await startWriter({
    path,
    thread: WRITER_THREAD,
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
  const onFault = (error: unknown) => {
    if (!isFatalTrouble(error)) return;
    log.error({ path, cause: String(error) }, "the database cannot be read any more: stopping");
    onFatal();
  };
  const connection = openReader(path);
  const address = addressPath(dirname(path));
  // The server first: where it cannot listen, nothing must have been sent to a provider.
  const fulfilling = Promise.withResolvers<Fulfilment>();
  const placed = async (order: Order) => (await fulfilling.promise).placed(order);
  const close = async () => {
    // The writer closes last: it checkpoints, which a reader would hold up.
    connection.sqlite.close();
    await writer.close();
    rmSync(address, { force: true });
    release();
  };
  let server: Server;
  try {
    server = startServer(
      { connection, writer, log, unanswered: new Map(), onFault, placed },
      config.host,
      config.port,
    );
  } catch (error) {
    await close();
    throw new ListenError(error instanceof Error && "code" in error ? String(error.code) : "");
  }
  const fulfilment = await startFulfilment({
    connection,
    writer,
    log,
    clock: systemClock,
    random: Math.random,
    settings: {
      placeWaitMs: config.placeWait,
      placeRetryMs: config.placeRetry,
      pollIntervalMs: config.pollInterval,
    },
    connect: (provider) => connectProvider(provider, config.providerTimeout),
  }).catch(async (error: unknown) => {
    // Whoever waits for a placement hears of it; nobody may be waiting.
    fulfilling.promise.catch(() => {});
    fulfilling.reject(error);
    await server.stop();
    await close();
    throw error;
  });
  fulfilling.resolve(fulfilment);
  const forgetting = startForgetting(writer, log);
  const backups = startBackups(backupPlan(config, path), log);
  const url = `http://${bracketed(server.hostname)}:${server.port}`;
  writeFileSync(address, url, { mode: 0o600 });
  log.info({ url, path }, "started");
  return {
    url,
    backUpNow: () => backups.backUpNow(),
    async stop() {
      log.info({}, "stopping");
      const placings = fulfilment.stop(DRAIN_MILLISECONDS);
      const drained = await Promise.race([
        server.stop().then(() => true),
        Bun.sleep(DRAIN_MILLISECONDS).then(() => false),
      ]);
      await placings;
      if (!drained) log.warn({}, "requests were still in flight after 10 s");
      await Promise.all([forgetting.stop(), backups.stop()]);
      await close();
      log.info({}, "stopped");
      log.flush();
    },
  };
}

function backupPlan(config: Config, path: string): BackupPlan {
  const { data, backupEvery: every, backupKeep: keep } = config;
  return { path, data, every, keep, folder: backupFolder(config) };
}

function bracketed(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
