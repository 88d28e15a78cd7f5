// The Prometheus metrics. The rest of the program uses Observer instead of prom-client. Every series whose labels are
// known exists from the start, at 0, because Prometheus sees no increase in a series that begins at 1. Labels have low
// cardinality: routes are patterns, never paths; no value that a caller sent is ever a label.

import type { Figures, ProviderFigures } from "./figures.ts";
import type { Observer, KnownLabels } from "./observer.ts";
import { Counter, Gauge, Registry } from "prom-client";
import type { Awaitable } from "../db/port/port.ts";
import { ALERT_KINDS } from "../domain/alerts/conditions.ts";
import { ORDER_STATUSES } from "../domain/orders/order-statuses.ts";
import { DISABLED_REASONS } from "../domain/webhooks/webhook-events.ts";
import { createObserver } from "./event-metrics.ts";
import { addConnectionFigures } from "./connection-metrics.ts";
import { addProcessFigures } from "./process-metrics.ts";
import { gauge } from "./read-gauge.ts";

export interface Metrics extends Observer {
  contentType: string;
  render(): Promise<string>;
}

/** Identifies a server in the metrics. */
export interface ServerInfo {
  version: string;
  server: string;
}

export function createMetrics(
  figures: Figures,
  info: ServerInfo,
  known: KnownLabels = { routes: [], codes: [] },
): Metrics {
  const registry = new Registry();
  const providers = sharedRead(() => figures.providers());
  const observer = createObserver(registry, known, providers);
  addFigures(registry, figures);
  addProviderFigures(registry, providers);
  addConnectionFigures(registry, () => figures.connections());
  addProcessFigures(registry);
  new Gauge({
    name: "reseller_info",
    help: "Running version and server name, as labels.",
    labelNames: ["version", "server"],
    registers: [registry],
  }).set({ ...info }, 1);
  return { ...observer, contentType: registry.contentType, render: () => registry.metrics() };
}

function addFigures(registry: Registry, figures: Figures): void {
  gauge(registry, "reseller_writer_queue_length", "Commands waiting for the writer thread.", () =>
    figures.queueLength(),
  );
  gauge(registry, "reseller_database_bytes", "Size of the database file.", () =>
    figures.databaseBytes(),
  );
  gauge(registry, "reseller_wal_bytes", "Size of the write-ahead log.", () => figures.walBytes());
  gauge(registry, "reseller_disk_free_bytes", "Free disk space where the database is.", () =>
    figures.diskFreeBytes(),
  );
  gauge(
    registry,
    "reseller_backup_age_seconds",
    "Time since the start of the newest verified backup.",
    () => figures.backupAgeSeconds(),
  );
  gauge(
    registry,
    "reseller_backup_verified",
    "1 if the newest backup is verified, otherwise 0.",
    () => figures.backupVerified(),
  );
  gauge(
    registry,
    "reseller_remote_backup_age_seconds",
    "Time since the start of the newest backup that was copied off-site.",
    () => figures.remoteBackupAgeSeconds(),
  );
  gauge(
    registry,
    "reseller_oldest_undelivered_webhook_seconds",
    "Age of the oldest event not yet delivered to an active webhook.",
    () => figures.oldestUndeliveredSeconds(),
  );
  gauge(registry, "reseller_mails_waiting", "E-mails that wait or are being sent.", () =>
    figures.mailsWaiting(),
  );
  new Gauge({
    name: "reseller_alerts",
    help: "Ongoing alerts, by kind.",
    labelNames: ["kind"],
    registers: [registry],
    async collect() {
      const open = await figures.openAlerts();
      if (open === null) return this.reset();
      for (const kind of ALERT_KINDS) this.set({ kind }, open.get(kind) ?? 0);
    },
  });
  new Gauge({
    name: "reseller_webhooks_disabled",
    help: "Disabled webhooks, by reason.",
    labelNames: ["reason"],
    registers: [registry],
    async collect() {
      const counts = await figures.disabledWebhooks();
      if (counts === null) return this.reset();
      for (const reason of DISABLED_REASONS) this.set({ reason }, counts[reason]);
    },
  });
  new Gauge({
    name: "reseller_order_requests_open",
    help: "Open cancel and refill requests, by what they wait for; settlement: the outcome is unknown.",
    labelNames: ["waits_for"],
    registers: [registry],
    async collect() {
      const counts = await figures.openOrderRequests();
      if (counts === null) return this.reset();
      this.set({ waits_for: "operator" }, counts.toDecide);
      this.set({ waits_for: "settlement" }, counts.unknown);
      this.set({ waits_for: "provider" }, counts.atProvider);
    },
  });
  new Gauge({
    name: "reseller_payments_open",
    help: "Payments that wait for the operator: to approve or reject, and reversed ones.",
    labelNames: ["waits_for"],
    registers: [registry],
    async collect() {
      const counts = await figures.payments();
      if (counts === null) return this.reset();
      this.set({ waits_for: "decision" }, counts.waiting);
      this.set({ waits_for: "reversal" }, counts.reversed);
    },
  });
  gauge(registry, "reseller_servers", "Servers that share the database, including this one.", () =>
    figures.servers(),
  );
  new Counter({
    name: "reseller_log_lines_lost_total",
    help: "Log lines that standard error did not accept.",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(figures.lostLogLines());
    },
  });
  orderGauge(registry, "reseller_orders", "Orders by state, without test orders.", figures, "live");
  orderGauge(registry, "reseller_test_orders", "Test orders by state.", figures, "test");
}

/**
 * Adds a gauge of orders by status. The gauges of live and test orders share one count: calls during a count get the
 * same promise.
 */
function orderGauge(
  registry: Registry,
  name: string,
  help: string,
  figures: Figures,
  side: "live" | "test",
): void {
  new Gauge({
    name,
    help,
    labelNames: ["status"],
    registers: [registry],
    async collect() {
      const counts = await figures.ordersByStatus();
      if (counts === null) return this.reset();
      for (const status of ORDER_STATUSES) this.set({ status }, counts[side][status]);
    },
  });
}

/**
 * Adds the gauges of providers. They are reset at each scrape, so a renamed or deleted provider leaves no old series.
 */
function addProviderFigures(
  registry: Registry,
  providers: () => Promise<readonly ProviderFigures[] | null>,
): void {
  const labelNames = ["provider"] as const;
  new Gauge({
    name: "reseller_unknown_orders",
    help: "Orders whose submission outcome is unknown.",
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      for (const { name, unknown } of (await providers()) ?? [])
        this.set({ provider: name }, unknown);
    },
  });
  new Gauge({
    name: "reseller_provider_paused",
    help: "1 while submissions to the provider are paused, else 0.",
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      for (const { name, isPaused } of (await providers()) ?? [])
        this.set({ provider: name }, isPaused ? 1 : 0);
    },
  });
  new Gauge({
    name: "reseller_held_orders",
    help: "Orders that wait until the provider has funds.",
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      for (const { name, held } of (await providers()) ?? []) this.set({ provider: name }, held);
    },
  });
  new Gauge({
    name: "reseller_oldest_unchecked_order_seconds",
    help: "Time since the last report, of the open placed order that was reported least recently.",
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      for (const { name, oldestUncheckedSeconds: seconds } of (await providers()) ?? []) {
        if (seconds !== null) this.set({ provider: name }, seconds);
      }
    },
  });
}

/** Shares a read: calls during a read get the same promise. */
function sharedRead<T>(read: () => Awaitable<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= (async () => read())().finally(() => {
      reading = null;
    });
    return reading;
  };
}
