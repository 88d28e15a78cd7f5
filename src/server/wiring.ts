// The dependencies of the API and of the deliveries, from the settings and the parts of the server that have started.

import { backupFolder } from "../config/flags.ts";
import { type Config, isPanelLocal, isPanelSecure } from "../config/settings.ts";
import { listSandboxOrders, listSandboxRefills } from "../db/sandbox.ts";
import type { SyncDeps } from "../delivery/catalogue-sync.ts";
import { systemClock } from "../delivery/clock.ts";
import type { DeliveryService } from "../delivery/delivery.ts";
import type { DeliveryDeps } from "../delivery/provider-worker.ts";
import { createRateLimits } from "../http/rate-limits.ts";
import { responseTemplate } from "../http/response-template.ts";
import type { ServerDeps } from "../http/server.ts";
import type { Backups } from "../jobs/backups.ts";
import type { KeyUsage } from "../jobs/key-usage.ts";
import { createActivityCounter } from "../monitoring/activity.ts";
import type { Logger } from "../monitoring/log.ts";
import { type Metrics, NO_OBSERVER } from "../monitoring/metrics.ts";
import { createReadiness } from "../monitoring/readiness.ts";
import type { MachineFacts, PanelSettings } from "../panel/call.ts";
import { createPasswords } from "../panel/passwords.ts";
import type { BackupFacts, SystemFacts } from "../panel/system.tsx";
import type { PanelDeps } from "../panel/listener.ts";
import { versions } from "./versions.ts";
import { connectProvider } from "../providers/protocols.ts";
import { newestBackup } from "../storage/backup-folder.ts";
import { freeBytesIn } from "../storage/files.ts";
import { checkNewUrl } from "../webhooks/new-url.ts";
import type { AlertDeps } from "../webhooks/alerts.ts";
import { createChannels } from "../webhooks/channels.ts";
import type { TargetPolicy } from "../webhooks/targets.ts";
import type { WebhookDeps } from "../webhooks/worker.ts";
import type { ServerDatabase } from "./database.ts";

/** A part that is referred to before it has started. */
export interface Pending<T> {
  promise: Promise<T>;
  /** Undefined until it has started. */
  value(): T | undefined;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function createPending<T>(): Pending<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let started: T | undefined;
  // Nothing may await it: its rejection must not count as unhandled.
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
}

export function apiDeps(config: Config, started: Started): ServerDeps {
  const { database, log, metrics, keyUsage, delivery, isTls } = started;
  const { store, writer } = database;
  return {
    store,
    writer,
    log,
    observer: metrics ?? NO_OBSERVER,
    findKey: (hash) => database.findKey(hash),
    recordKeyUse: (keyId, now, caller) => keyUsage.note(keyId, now, caller),
    limits: createRateLimits(config.rateLimit, () => database.servers()),
    trustedProxy: config.trustedProxy,
    noteUntrustedProxy: once(() =>
      log.warn(
        {},
        "requests come with X-Forwarded-For, but no proxy is trusted: all of them count as one address; name the proxy with --trusted-proxy",
      ),
    ),
    logReads: config.logReads,
    inFlight: new Map(),
    onInternalError: internalErrors(started),
    placed: async (order) => (await delivery.promise).placed(order),
    readiness: createReadiness({
      writer,
      checkDatabase: () => database.check(),
      isDeliveryOnTime: () => delivery.value()?.isOnTime() ?? true,
    }),
    template: responseTemplate(isTls),
    operator: { brand: config.brand, contact: config.contact },
    checkWebhookUrl: (text) => checkNewUrl(text, webhookPolicy(config)),
  };
}

/** What the panel's page of the system shows, besides what has started. */
export interface PanelFacts {
  configuration: SystemFacts["configuration"];
  readiness: SystemFacts["readiness"];
  /** Undefined until they have started. */
  backups: () => Backups | undefined;
  /** Of the off-site copies. */
  newestRemoteAt: () => number | null;
}

export function panelDeps(
  config: Config,
  started: Started,
  { configuration, readiness, backups, newestRemoteAt }: PanelFacts,
): PanelDeps {
  const { database, log } = started;
  const { store, slowStore, settlesAfterMs, writer, file } = database;
  const activity = createActivityCounter(slowStore, settlesAfterMs);
  return {
    store,
    slowStore,
    writer,
    log,
    now: Date.now,
    activity,
    checkWebhookUrl: (text) => checkNewUrl(text, webhookPolicy(config)),
    connect: (provider) => connectProvider(provider, config.providerTimeout),
    machine: () => (file === null ? {} : machineFacts(config, newestRemoteAt())),
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
    trustedProxy: config.trustedProxy,
    onInternalError: internalErrors(started),
  };
}

function internalErrors({ database, metrics }: Started): (error: unknown) => void {
  return (error) => {
    metrics?.internalError();
    database.onReadError(error);
  };
}

/** They start after the listeners. */
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
  };
}

export function deliveryDeps(config: Config, { database, log, metrics }: Started): DeliveryDeps {
  const { store, writer, serverId } = database;
  return {
    serverId,
    store,
    writer,
    log,
    clock: systemClock,
    random: Math.random,
    settings: {
      placeWaitMs: config.placeWait,
      placeRetryMs: config.placeRetry,
      pollIntervalMs: config.pollInterval,
    },
    connect: (provider) =>
      connectProvider(provider, config.providerTimeout, {
        now: () => systemClock.now(),
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
    clock: systemClock,
    ticker,
    random: Math.random,
    send: createChannels({ policy, now: Date.now, telegramApi: config.telegramApi }),
    onAttempt: (outcome) => metrics?.webhook(outcome),
    onAlert: (outcome) => metrics?.alert(outcome),
  };
}

/** What the machine says, besides what its folders hold. */
export interface AlertSources {
  hasBackupFailed: () => boolean;
  newestRemoteAt: () => number | null;
}

/** `webhooks`: alerts are sent by what sends webhooks. */
export function alertDeps(
  config: Config,
  { database, log }: Started,
  delivery: DeliveryService,
  { serverId, store, clock, ticker, random, send }: WebhookDeps,
  { hasBackupFailed, newestRemoteAt }: AlertSources,
): AlertDeps {
  const { writer, file } = database;
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
    machine() {
      if (file === null) return {};
      const facts = machineFacts(config, newestRemoteAt());
      // What is not known yet is not said; without backups none is missing.
      const { newestBackupAt, ...others } = facts;
      return {
        ...others,
        ...(config.backupEvery > 0 && newestBackupAt !== undefined && { newestBackupAt }),
        hasBackupFailed: hasBackupFailed(),
        backupEveryMs: config.backupEvery,
      };
    },
  };
}

function webhookPolicy({ webhookAllow, webhookAllowHttp }: Config): TargetPolicy {
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

/** The first backup is made, and the newest one copied off-site, after the start. */
const FIRST_BACKUP_S = 600;

/** Of a database that is a file here. A folder that cannot be read is left out: the next backup logs it. */
function machineFacts(config: Config, newestRemoteAt: number | null): MachineFacts {
  const isYoung = process.uptime() <= FIRST_BACKUP_S;
  const facts: MachineFacts = { freeBytes: freeBytesIn(config.data) };
  const isCopied = config.backupTo !== null && (newestRemoteAt !== null || !isYoung);
  if (isCopied) facts.newestRemoteAt = newestRemoteAt;
  try {
    const newest = newestBackup(config.data, backupFolder(config), Date.now());
    const isMissing = config.backupEvery > 0 && !isYoung;
    if (newest !== null || isMissing) facts.newestBackupAt = newest?.begunAt ?? null;
  } catch {}
  return facts;
}
