// `reseller serve`: starts the database, the listeners, the delivery and the background jobs, and stops them in order.

import { rmSync } from "node:fs";
import packageJson from "../../package.json" with { type: "json" };
import { backupFolder, environmentWith, wantsColor } from "../config/flags.ts";
import {
  type Config,
  isPortalOn,
  PORTAL_PREFIX,
  REMOTE_FLAGS,
  sellerIn,
} from "../config/settings.ts";
import { startScheduledSyncs } from "../delivery/catalogue-sync.ts";
import { type DeliveryService, startDelivery } from "../delivery/delivery.ts";
import { Refusal } from "../domain/values/error-table.ts";
import { REFUSAL_CODES } from "../http/server/errors.ts";
import { NOTICE_ROUTE, noticeRoutes } from "../http/payments/routes.ts";
import { ROUTES } from "../http/server/routes.ts";
import { startMetricsServer } from "../http/server/metrics.ts";
import { startServer } from "../http/server/server.ts";
import { SMM_API_ROUTES, smmApiRoutes } from "../http/smm-api/routes.ts";
import { type Backups, startBackups } from "../jobs/backups.ts";
import { startDailyTotals } from "../jobs/daily-totals.ts";
import { startInvoices } from "../jobs/invoices.ts";
import { startHousekeeping } from "../jobs/housekeeping.ts";
import { type Offsite, startOffsite } from "../jobs/offsite.ts";
import { startKeyUsage } from "../jobs/key-usage.ts";
import { createLog, type Logger } from "../monitoring/log.ts";
import type { Metrics } from "../monitoring/metrics.ts";
import type { KnownLabels } from "../monitoring/observer.ts";
import { readCertificate, reloadCertificate } from "./certificate.ts";
import { createConnectionPools, planOwnFiles } from "./connection-limits.ts";
import type { DatabaseEvents, ServerDatabase } from "./database.ts";
import type { ImportRuns } from "../panel/imports/import-runs.ts";
import type { SystemFacts } from "../panel/server/facts.ts";
import { startPaymentReads } from "../payments/payments.ts";
import { limitCalls } from "../providers/call.ts";
import { startProviderBalances } from "../delivery/provider-balances.ts";
import { startAlerts } from "../alerts/alerts.ts";
import type { Outbox } from "../scheduling/outbox.ts";
import { startWebhooks } from "../webhooks/worker.ts";
import type { ThreadAhead } from "../writer/thread-ahead.ts";
import {
  alertDeps,
  apiDeps,
  createPending,
  deliveryDeps,
  importParts,
  panelDeps,
  type Started,
  paymentsOf,
  syncDeps,
  webhookDeps,
} from "./wiring.ts";
import type { MailUrls } from "./mails.ts";
import { createFigures } from "./gauges.ts";
import { panelAddressPath, portalAddressPath } from "../storage/file/open.ts";
import type { SqliteOptions } from "./sqlite-database.ts";
import {
  type Listeners,
  type Stage,
  startListeners,
  urlOf,
  writeAddressFile,
} from "./listeners.ts";
import type { Demo } from "../web/server/demo.ts";

/** Limit in milliseconds for requests in flight after SIGTERM. */
const DRAIN_MS = 10_000;

/** How a server runs that is not the only one of its process. */
export interface Hosting {
  /** The writer's thread, if it was started ahead. */
  thread?: ThreadAhead | null;
  demo?: Demo | null;
  stage?: Stage | null;
}

export interface Service {
  url: string;
  /** URL of the panel for browsers; null without a panel. */
  panelUrl: string | null;
  log: Logger;
  /** Starts a backup now, unless one is running. */
  backUpNow(): void;
  /** Reads the certificate and key again. If they are invalid, the present ones stay in use. */
  reload(): void;
  /** Completes requests in flight and queued writes, checkpoints, and releases the data directory. */
  stop(): Promise<void>;
}

/**
 * Starts the server; resolves once it is ready. `end` is called after a fatal database error, once the log is written.
 */
export async function startService(
  config: Config & Pick<SqliteOptions, "thread">,
  end: () => void,
  configuration: SystemFacts["configuration"] = [],
  { thread = null, demo = null, stage = null }: Hosting = {},
): Promise<Service> {
  const log = createLog(config.logLevel, config.logFormat, wantsColor());
  const onFatal = () => void log.close().then(end);
  const tls = readCertificate(config);

  let metrics: Metrics | null = null;
  let offsite: Offsite | null = null;
  const pending = createPending<DeliveryService>();
  const events: DatabaseEvents = {
    log,
    onFatal,
    onCommit(commands, seconds) {
      metrics?.commit(commands, seconds);
      pending.value()?.ticker.wake();
    },
  };
  const database = await openDatabase(config, events, thread);
  const { writer } = database;
  const files = planOwnFiles(config);
  const { warning, ...allowed } = files;
  if (warning) log.warn(allowed, warning);
  limitCalls(files.calls);
  const pools = createConnectionPools(files, config, log);
  if (config.metricsListen) {
    const { createMetrics } = await import("../monitoring/metrics.ts");
    const { version } = packageJson;
    const newestRemoteAt = () => offsite?.newestAt() ?? null;
    const figures = createFigures(config, database, pools, log, newestRemoteAt);
    metrics = createMetrics(figures, { version, server: config.server }, knownLabels());
  }
  const keyUsage = startKeyUsage(writer, log, () => database.now());
  const closeDatabase = async () => {
    await keyUsage.stop();
    await database.close();
  };

  // The listeners start first: if they fail, nothing may have been sent to a provider.
  const started = {
    database,
    log,
    metrics,
    keyUsage,
    delivery: pending,
    isTls: tls !== null,
    pools,
    demo,
    payments: paymentsOf(config, { database, log, metrics }),
  };
  let listeners: Listeners;
  let portalUrl: string | null = null;
  let noticesUrl = "";
  let backups: Backups | undefined;
  let imports: ImportRuns | null = null;
  try {
    // Loaded only where it is wanted: it is a third of the program.
    const site = config.panelListen && (await import("../panel/server/listener.tsx"));
    const deps = apiDeps(config, started);
    imports = site && site.createImports(importParts(config, started));
    const panel =
      imports &&
      panelDeps(config, started, {
        imports,
        configuration,
        readiness: deps.readiness,
        backups: () => backups,
        newestRemoteAt: () => offsite?.newestAt() ?? null,
        portalUrl: () => portalUrl,
        noticesUrl: () => noticesUrl,
      });
    const pages = isPortalOn(config) ? await import("./portal.ts") : null;
    const portal = pages?.portalDeps(config, started);
    const below =
      config.portal && pages
        ? { prefix: PORTAL_PREFIX, handle: pages.portalHandler(portal!) }
        : null;
    const routes = [...smmApiRoutes(deps), ...noticeRoutes(deps)];
    listeners = startListeners(config, metrics, stage, {
      api: (address) => startServer(deps, address, tls, { routes, pages: below }, pools.api),
      portal: (address) => pages!.startPortal(portal!, address, tls, pools.api),
      panel: (address) => site!.startPanel(panel!, address, tls, pools.panel),
      metrics: (scraped, address) => startMetricsServer(scraped, address, pools.metrics),
    });
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
  const toSend = webhookDeps(config, started, delivery);
  const webhooks = startWebhooks(toSend);

  const syncs = startScheduledSyncs(syncDeps(config, started, delivery));

  const housekeeping = await startHousekeeping(writer, log, {
    isLeader: () => database.isLeader(),
    clocks: { wall: () => database.now(), monotonic: () => performance.now() },
  });
  const isLeader = () => database.isLeader();
  const totals = startDailyTotals(writer, log, { isLeader });
  const invoices = startInvoices(writer, log, { isLeader, seller: sellerIn(config) });
  offsite = copyOffsite(config, database, log);
  const running = (backups = backUp(config, database, offsite, log));
  const watching = alertDeps(config, started, delivery, toSend, {
    hasBackupFailed: () => running.hasFailed(),
    newestRemoteAt: () => offsite?.newestAt() ?? null,
  });
  const alerts = startAlerts(watching);
  const payments = startPaymentReads(started.payments, { log, ticker: delivery.ticker, isLeader });
  const balances = startProviderBalances({ ...deliveryDeps(config, started), ...watching });
  const protocol = tls ? "https" : "http";
  const url = urlOf(protocol, listeners.api);
  const panelUrl = listeners.panel && (config.panelUrl ?? urlOf(protocol, listeners.panel));
  portalUrl = portalUrlOf(config, protocol, listeners);
  // They come to the API, whose address a proxy may share with the portal.
  noticesUrl = `${(config.portal && config.portalUrl) || url}/payments`;
  const mails = await sendMails(config, started, delivery, { portalUrl, panelUrl });
  writeAddressFile(database.addressFile, url, log);
  const panelFile = panelAddressPath(config.data);
  if (panelUrl) writeAddressFile(panelFile, panelUrl, log);
  const portalFile = portalAddressPath(config.data);
  if (portalUrl) writeAddressFile(portalFile, portalUrl, log);
  log.info(
    {
      url,
      path: database.description,
      metrics: listeners.metricsUrl,
      panel: panelUrl,
      portal: portalUrl,
    },
    "started",
  );
  // Sets the JIT's usual policy. The compiled program starts with one under which little code becomes machine code
  // (deploy/compile.ts).
  Bun.unsafe.setJITPolicy(1);

  return {
    url,
    panelUrl,
    log,
    backUpNow: () => running.backUpNow(),
    reload: () =>
      reloadCertificate(config, [listeners.api, listeners.panel, listeners.portal], log),
    async stop() {
      log.info({}, "stopping");
      // Listeners and deliveries stop together, because requests wait for the deliveries of their orders.
      const delivered = Promise.all([
        alerts.stop(),
        balances.stop(),
        payments.stop(),
        delivery.stop(DRAIN_MS),
        webhooks.stop(DRAIN_MS),
        mails?.stop(DRAIN_MS),
        imports?.stop(),
      ]);
      const drained = await Promise.race([
        listeners.stop().then(() => true),
        Bun.sleep(DRAIN_MS).then(() => false),
      ]);
      await delivered;
      if (!drained) log.warn({}, "requests were still in flight after 10 s");
      const jobs = [housekeeping.stop(), totals.stop(), invoices.stop(), syncs.stop()];
      await Promise.all([...jobs, running.stop(), offsite?.stop()]);
      if (panelUrl) rmSync(panelFile, { force: true });
      if (portalUrl) rmSync(portalFile, { force: true });
      await closeDatabase();
      log.info({}, "stopped");
      await log.close();
    },
  };
}

/** Starts the sending of e-mails, and notes in the database whether any are sent. Null without --smtp. */
async function sendMails(
  config: Config,
  started: Started,
  delivery: DeliveryService,
  urls: MailUrls,
): Promise<Outbox | null> {
  const { database, log } = started;
  const active = config.smtp !== null;
  const settings = { active, operator: config.mailOperator };
  await database.writer.submit("setMailSettings", settings).catch((error) => {
    // The disk or the queue is full. What the last start noted stays.
    if (!(error instanceof Refusal)) throw error;
    log.warn({ active }, "the settings of e-mail could not be stored: restart once writes succeed");
  });
  if (!active) return null;
  const { startMailService } = await import("./mails.ts");
  return startMailService(config, started, delivery, urls);
}

/** Returns the address of the portal for browsers; null without a portal. */
function portalUrlOf(
  config: Config,
  protocol: "http" | "https",
  { api, portal }: Listeners,
): string | null {
  if (portal) return config.portalUrl ?? urlOf(protocol, portal);
  if (!config.portal) return null;
  return `${config.portalUrl ?? urlOf(protocol, api)}${PORTAL_PREFIX}`;
}

async function openDatabase(
  config: Config & Pick<SqliteOptions, "thread">,
  events: DatabaseEvents,
  thread: ThreadAhead | null,
): Promise<ServerDatabase> {
  if (config.database === null) {
    const { openSqliteDatabase } = await import("./sqlite-database.ts");
    return openSqliteDatabase(config, events, thread);
  }
  const { openPostgresDatabase } = await import("./postgres-database.ts");
  return openPostgresDatabase(config, events);
}

function knownLabels(): KnownLabels {
  return {
    routes: [
      // Requests with a test key are counted separately.
      ...ROUTES.filter(([, , { test }]) => !test).map(([method, path]) => [method, path] as const),
      ...SMM_API_ROUTES.map((route) => ["POST", route] as const),
      ["POST", NOTICE_ROUTE],
    ],
    codes: REFUSAL_CODES,
  };
}

function backUp(
  config: Config,
  { file }: ServerDatabase,
  offsite: Offsite | null,
  log: Logger,
): Backups {
  if (file === null) return noBackups(log);
  const { data, backupEvery: every, backupKeep: keep, checkpoint } = config;
  const folder = backupFolder(config);
  const onMade = (made: string) => offsite?.copy(made);
  const inUse = () => offsite?.inUse() ?? null;
  const environment = environmentWith(config, []);
  return startBackups(
    { path: file, data, every, keep, folder, checkpoint, environment, onMade, inUse },
    log,
  );
}

/** Starts off-site copies; null without --backup-to, which is refused if the database makes its own backups. */
function copyOffsite(config: Config, { file }: ServerDatabase, log: Logger): Offsite | null {
  if (config.backupTo === null || file === null) return null;
  const flags = [...REMOTE_FLAGS, "backup-keep-remote", "backup-recipient"] as const;
  const environment = environmentWith(config, flags);
  return startOffsite({ data: config.data, folder: backupFolder(config), environment }, log);
}

/** Returns backups that do nothing: PostgreSQL's own tools make them. */
function noBackups(log: Logger): Backups {
  return {
    backUpNow: () => log.warn({}, "no backup made: back up PostgreSQL with its own tools"),
    status: () => ({ folder: "", isRunning: false, backups: [] }),
    verify: () => false,
    hasFailed: () => false,
    stop: () => Promise.resolve(),
  };
}
