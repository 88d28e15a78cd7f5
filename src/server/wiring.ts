// Builds the dependencies of the API and the other parts from the settings and the parts that have started.

import { backupFolder } from "../config/flags.ts";
import { type Config, isPanelLocal, isPanelSecure, orderLimitsIn } from "../config/settings.ts";
import { countPausedProviders } from "../db/providers/providers.ts";
import { listSandboxOrders, listSandboxRefills } from "../db/orders/sandbox.ts";
import { countUnusualSpenders } from "../db/reports/hourly-spend.ts";
import type { MachineFacts } from "../domain/alerts/conditions.ts";
import type { SyncDeps } from "../delivery/catalogue-sync.ts";
import { type Clock, systemClock } from "../scheduling/clock.ts";
import type { DeliveryService } from "../delivery/delivery.ts";
import type { DeliveryDeps } from "../delivery/provider-worker.ts";
import type { NoticeDeps } from "../http/payments/routes.ts";
import { createNoticeLimits } from "../http/payments/notice-limits.ts";
import { createRateLimits } from "../http/server/rate-limits.ts";
import { responseTemplate } from "../http/server/response-template.ts";
import type { ServerDeps } from "../http/server/server.ts";
import type { Backups } from "../jobs/backups.ts";
import type { KeyUsage } from "../jobs/key-usage.ts";
import { createActivityCounter } from "../reports/activity.ts";
import { createStatusCounter } from "../reports/status-counter.ts";
import type { Logger } from "../monitoring/log.ts";
import { type Metrics } from "../monitoring/metrics.ts";
import { NO_OBSERVER } from "../monitoring/observer.ts";
import { createReadiness } from "../monitoring/readiness.ts";
import type { Demo } from "../web/server/demo.ts";
import { createPasswords } from "../web/sessions/passwords.ts";
import type { BackupFacts, SystemFacts } from "../panel/server/facts.ts";
import type { Panel, PanelSettings } from "../panel/server/panel.ts";
import { versions } from "./versions.ts";
import { checkConnections, type ConnectionPools } from "./connection-limits.ts";
import type { MethodDeps } from "../payments/method.ts";
import { checkMethod } from "../payments/methods.ts";
import { createPayments, type Payments } from "../payments/payments.ts";
import { connectProvider } from "../providers/protocols.ts";
import { newestBackups } from "../storage/backup/backup-folder.ts";
import type { ImportParts, ImportRuns } from "../panel/imports/import-runs.ts";
import { freeBytesIn } from "../storage/file/files.ts";
import { checkNewUrl } from "../webhooks/new-url.ts";
import type { AlertDeps } from "../alerts/alerts.ts";
import { createChannels } from "../alerts/channels.ts";
import type { TargetPolicy } from "../webhooks/targets.ts";
import type { WebhookDeps } from "../webhooks/worker.ts";
import type { ServerDatabase } from "./database.ts";

/** A part that other parts refer to before it has started. */
export interface Pending<T> {
  promise: Promise<T>;
  /** Returns undefined until the part has started. */
  value(): T | undefined;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function createPending<T>(): Pending<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let started: T | undefined;
  // If nothing awaits the promise, its rejection must not count as unhandled.
  promise.catch(() => {});
  return {
    promise,
    value: () => started,
    resolve(value) {
      started = value;
      resolve(value);
    },
    reject,
  };
}

export interface Started {
  database: ServerDatabase;
  log: Logger;
  metrics: Metrics | null;
  keyUsage: KeyUsage;
  delivery: Pending<DeliveryService>;
  isTls: boolean;
  pools: ConnectionPools;
  /** Null: this is no demo. */
  demo: Demo | null;
  payments: Payments;
}

/** Returns the calls of payment methods. No kind of method is loaded before one of its methods is used. */
export function paymentsOf(
  config: Config,
  { database, log, metrics }: Pick<Started, "database" | "log" | "metrics">,
): Payments {
  const { store, writer } = database;
  return createPayments({
    store,
    writer,
    log,
    ...methodDeps(config),
    onOutcome: (call, outcome) => metrics?.payment(call, outcome),
  });
}

function methodDeps({ providerTimeout: timeoutMs, stripeApi }: Config): MethodDeps {
  return { timeoutMs, stripeApi: stripeApi === null ? null : new URL(stripeApi) };
}

export function apiDeps(config: Config, started: Started): ServerDeps & NoticeDeps {
  const { database, log, metrics, keyUsage, delivery, isTls, pools, payments } = started;
  const { store, writer } = database;
  return {
    store,
    writer,
    log,
    observer: metrics ?? NO_OBSERVER,
    now: () => database.now(),
    findKey: (hash) => database.findKey(hash),
    countKeyRequest: (keyId, isError) => keyUsage.count(keyId, isError),
    recordKeyUse: (keyId, now, caller) => keyUsage.record(keyId, now, caller),
    limits: createRateLimits(config.rateLimit, () => database.servers(), orderLimitsIn(config)),
    trustedProxy: config.trustedProxy,
    noteUntrustedProxy: once(() =>
      log.warn(
        {},
        "requests have X-Forwarded-For, but no proxy is trusted: they all count as one address; set --trusted-proxy",
      ),
    ),
    logReads: config.logReads,
    inFlight: new Map(),
    onInternalError: internalErrors(started),
    noticeLimits: createNoticeLimits(config.rateLimit !== 0),
    receiveNotice: (kind, methodId, notice) => payments.receive(kind, methodId, notice),
    awaitProvider: async (order) => (await delivery.promise).awaitProvider(order),
    readiness: createReadiness({
      writer,
      checkDatabase: () => database.check(),
      isDeliveryOnTime: () => delivery.value()?.isOnTime() ?? true,
      pausedProviders: () => store.read(countPausedProviders),
      unusualSpenders: () => store.read((reader) => countUnusualSpenders(reader, database.now())),
      checkConnections: () => checkConnections(pools.api),
    }),
    template: responseTemplate(isTls),
    operator: { brand: config.brand, contact: config.contact },
    checkWebhookUrl: (text) => checkNewUrl(text, webhookPolicy(config)),
  };
}

/** What the panel's system page shows, besides the parts that have started. */
export interface PanelFacts {
  configuration: SystemFacts["configuration"];
  readiness: SystemFacts["readiness"];
  /** Returns undefined until the backups have started. */
  backups: () => Backups | undefined;
  /** The portal's address for browsers; null without a portal. */
  portalUrl: () => string | null;
  /** The address below which notices of payments are taken. */
  noticesUrl: () => string;
  /** Time of the newest off-site copy; null if none is known. */
  newestRemoteAt: () => number | null;
  imports: ImportRuns;
}

export function panelDeps(
  config: Config,
  started: Started,
  { configuration, readiness, backups, newestRemoteAt, portalUrl, noticesUrl, imports }: PanelFacts,
): Panel {
  const { database, log, delivery } = started;
  const { store, slowStore, settlesAfterMs, writer } = database;
  const sources = { newestRemoteAt, hasBackupFailed: () => backups()?.hasFailed() ?? false };
  const now = () => database.now();
  const activity = createActivityCounter(slowStore, settlesAfterMs, now);
  const { readWithin: statuses } = createStatusCounter(slowStore, settlesAfterMs, now);
  return {
    store,
    slowStore,
    writer,
    log,
    now,
    activity,
    statuses,
    checkWebhookUrl: (text) => checkNewUrl(text, webhookPolicy(config)),
    connect: (provider) => connectProvider(provider, config.providerTimeout),
    checkMethod: (method) => checkMethod(method, methodDeps(config)),
    machine: () => machineFacts(config, database, sources),
    lateness: async () => (await delivery.value()?.lateness()) ?? new Map(),
    portal: { url: portalUrl, noticesUrl, registration: config.portalRegistration },
    settings: panelSettings(config),
    passwords: createPasswords(),
    system: {
      versions: versions(),
      database: database.description,
      configuration,
      readiness,
      servers: () => database.servers(),
      backups: database.file === null ? null : backupFacts(backups),
    },
    imports,
    trustedProxy: config.trustedProxy,
    onInternalError: internalErrors(started),
    demo: started.demo?.panel ?? null,
  };
}

/** Returns what the panel's import from another panel needs. */
export function importParts(config: Config, started: Started): ImportParts {
  const { slowStore: store, writer } = started.database;
  return {
    folder: config.data,
    limitBytes: config.panelUploadLimit,
    diskFloor: config.diskFloor,
    freeBytes: freeBytesIn,
    store,
    writer,
    log: started.log,
    onInternalError: internalErrors(started),
  };
}

/** Returns what counts internal errors of pages and calls. */
export function internalErrors({ database, metrics }: Started): (error: unknown) => void {
  return (error) => {
    metrics?.internalError();
    database.onReadError(error);
  };
}

/** Returns the backups for the panel. They start after the listeners, so they may be missing at first. */
function backupFacts(backups: PanelFacts["backups"]): BackupFacts {
  return {
    status: () => backups()?.status() ?? { folder: "", isRunning: false, backups: [] },
    backUpNow: () => backups()?.backUpNow(),
    verify: (name) => backups()?.verify(name) ?? false,
  };
}

function panelSettings(config: Config): PanelSettings {
  return {
    url: config.panelUrl,
    isSecure: isPanelSecure(config),
    needsSecondFactor: !isPanelLocal(config),
    confirmAboveMicros: config.panelConfirmAbove,
    rateLimit: config.rateLimit,
    orderLimits: orderLimitsIn(config),
  };
}

/** Returns a clock with the time of the database, so that work is due at the same time on all servers. */
export function clockOf(database: ServerDatabase): Clock {
  return { ...systemClock, now: () => database.now() };
}

export function deliveryDeps(config: Config, { database, log, metrics }: Started): DeliveryDeps {
  const { store, writer, serverId } = database;
  return {
    serverId,
    store,
    writer,
    log,
    clock: clockOf(database),
    random: Math.random,
    settings: {
      placeWaitMs: config.placeWait,
      placeRetryMs: config.placeRetry,
      pollIntervalMs: config.pollInterval,
      pauseAfter: config.providerPauseAfter,
    },
    connect: (provider) =>
      connectProvider(provider, config.providerTimeout, {
        now: () => database.now(),
        orders: async (numbers) => store.read((reader) => listSandboxOrders(reader, numbers)),
        refills: async (numbers) => store.read((reader) => listSandboxRefills(reader, numbers)),
      }),
    onSubmission: (provider, outcome) => metrics?.placement(provider, outcome),
    onRequest: (kind, outcome) => metrics?.orderRequest(kind, outcome),
  };
}

export function syncDeps(
  config: Config,
  { database, log }: Started,
  { ticker }: DeliveryService,
): SyncDeps {
  const { slowStore: store, writer } = database;
  return {
    store,
    writer,
    log,
    ticker,
    connect: (provider) => connectProvider(provider, config.providerTimeout),
    isLeader: () => database.isLeader(),
  };
}

export function webhookDeps(
  config: Config,
  { database, log, metrics }: Started,
  { ticker }: DeliveryService,
): WebhookDeps {
  const { store, writer, serverId } = database;
  const policy = webhookPolicy(config);
  return {
    serverId,
    store,
    writer,
    log,
    clock: clockOf(database),
    ticker,
    random: Math.random,
    send: createChannels({ policy, now: () => database.now(), telegramApi: config.telegramApi }),
    onAttempt: (outcome) => metrics?.webhook(outcome),
    onAlert: (outcome) => metrics?.alert(outcome),
  };
}

/** Facts about the machine that its folders do not show. */
export interface MachineSources {
  hasBackupFailed: () => boolean;
  newestRemoteAt: () => number | null;
}

/** Returns the dependencies of alerts, which are sent by the sender of webhooks. */
export function alertDeps(
  config: Config,
  { database, log }: Started,
  delivery: DeliveryService,
  { serverId, store, clock, ticker, random, send }: WebhookDeps,
  sources: MachineSources,
): AlertDeps {
  const { writer } = database;
  return {
    serverId,
    store,
    writer,
    log,
    clock,
    ticker,
    random,
    send,
    isLeader: () => database.isLeader(),
    lateness: () => delivery.lateness(),
    machine: () => machineFacts(config, database, sources),
  };
}

export function webhookPolicy({ webhookAllow, webhookAllowHttp }: Config): TargetPolicy {
  return { allow: webhookAllow, allowHttp: webhookAllowHttp };
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}

/** Seconds after the start within which the first backup is made and the newest one is copied off-site. */
const FIRST_BACKUP_S = 600;

/**
 * Returns the facts about a database file on this machine, and none for PostgreSQL. Facts of a folder that cannot be
 * read are left out: the next backup logs the error. With backups turned off, a missing or old one is not reported.
 */
function machineFacts(
  config: Config,
  { file }: ServerDatabase,
  { hasBackupFailed, newestRemoteAt: remoteAt }: MachineSources,
): MachineFacts {
  if (file === null) return {};
  const newestRemoteAt = remoteAt();
  const isYoung = process.uptime() <= FIRST_BACKUP_S;
  const facts: MachineFacts = {
    freeBytes: freeBytesIn(config.data),
    backupEveryMs: config.backupEvery,
    hasBackupFailed: hasBackupFailed(),
  };
  const isCopied = config.backupTo !== null && (newestRemoteAt !== null || !isYoung);
  if (isCopied) facts.newestRemoteAt = newestRemoteAt;
  try {
    const { newest } = newestBackups(config.data, backupFolder(config), Date.now());
    const isKnown = newest !== null || !isYoung;
    if (config.backupEvery > 0 && isKnown) facts.newestBackupAt = newest?.begunAt ?? null;
    if (newest !== null) facts.isBackupVerified = newest.isVerified;
  } catch {}
  return facts;
}
