// The Prometheus metrics. Only this file and request-times.ts use prom-client; the rest of the service uses Observer.
// Labels have low cardinality: routes are patterns, never paths; no value that a caller sent is ever a label.

import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Awaitable } from "../db/port.ts";
import { ALERT_KINDS } from "../domain/alerts.ts";
import { ORDER_STATUSES } from "../domain/orders.ts";
import type { RateExceeded, RefusalCode } from "../domain/refusals.ts";
import { DISABLED_REASONS, type DisabledReason } from "../domain/webhook-events.ts";
import { createRequestTimes } from "./request-times.ts";
import { readProcessFigures } from "./process-metrics.ts";
import type { OrderCounts } from "./status-counter.ts";

const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const COMMIT_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const METHODS = new Set(["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]);

/** Events that the service reports. */
export interface Observer {
  /** `route`: the pattern; null where no route matched. */
  request(method: string, route: string | null, status: number, seconds: number): void;
  /** A request with a test key: of it nothing else is reported. */
  testRequest(status: number): void;
  refusal(code: RefusalCode): void;
  rateLimited(by: RateExceeded["by"]): void;
  replay(): void;
  /** The outcome of a submission. */
  placement(outcome: string): void;
  /** `delivered`, or the word of a webhook's failure. */
  webhook(outcome: string): void;
  /** The same for an alert of the operator. */
  alert(outcome: string): void;
  commit(commands: number, seconds: number): void;
}

/** Those of the database, read at each scrape; null: it has none. */
export interface DatabaseFigures {
  databaseBytes(): Awaitable<number | null>;
  walBytes(): number | null;
  diskFreeBytes(): number | null;
}

/** Values that are read at each scrape. */
export interface Figures extends DatabaseFigures {
  queueLength(): number;
  /** Null: there is none. */
  backupAgeSeconds(): number | null;
  /** Null: none is known to be off-site. */
  remoteBackupAgeSeconds(): number | null;
  /** Null: no placed order is open. */
  oldestUncheckedSeconds(): Awaitable<number | null>;
  /** Null: not known at this time. */
  ordersByStatus(): Promise<OrderCounts | null>;
  /** Null: none waits. */
  oldestUndeliveredSeconds(): Awaitable<number | null>;
  /** Endpoints of webhooks that are disabled, by the reason. Null: not known at this time. */
  disabledWebhooks(): Awaitable<Record<DisabledReason, number> | null>;
  /** Alerts that go on, by kind. Null: not known at this time. */
  openAlerts(): Awaitable<ReadonlyMap<string, number> | null>;
  /** Servers that share the database. */
  servers(): number;
  lostLogLines(): number;
}

export interface Metrics extends Observer {
  contentType: string;
  render(): Promise<string>;
}

/** For a server without metrics. */
export const NO_OBSERVER: Observer = {
  request() {},
  testRequest() {},
  refusal() {},
  rateLimited() {},
  replay() {},
  placement() {},
  webhook() {},
  alert() {},
  commit() {},
};

/** What tells a server from others. */
export interface ServerInfo {
  version: string;
  server: string;
}

export function createMetrics(figures: Figures, info: ServerInfo): Metrics {
  const registry = new Registry();
  const observer = createObserver(registry);
  addFigures(registry, figures);
  addProcessFigures(registry);
  new Gauge({
    name: "reseller_info",
    help: "The version that runs and the name of the server, as labels.",
    labelNames: ["version", "server"],
    registers: [registry],
  }).set({ ...info }, 1);
  return { ...observer, contentType: registry.contentType, render: () => registry.metrics() };
}

function createObserver(registry: Registry): Observer {
  const registers = [registry];
  const requests = createRequestTimes(
    "reseller_http_request_duration_seconds",
    "Time from a request's head to its answer, by route and status.",
    REQUEST_BUCKETS,
  );
  registry.registerMetric(requests.metric);
  const testRequests = new Counter({
    name: "reseller_test_requests_total",
    help: "Requests with a test key, by status; no other metric of requests counts them.",
    labelNames: ["status"],
    registers,
  });
  const refusals = new Counter({
    name: "reseller_refusals_total",
    help: "Requests that a rule said no to, by the rule's code.",
    labelNames: ["code"],
    registers,
  });
  const limited = new Counter({
    name: "reseller_rate_limited_total",
    help: "Requests over a rate limit: of a key, or of an address that offers unknown keys.",
    labelNames: ["by"],
    registers,
  });
  const replays = new Counter({
    name: "reseller_idempotent_replays_total",
    help: "Duplicates under an Idempotency-Key that were given the first one's answer.",
    registers,
  });
  const placements = new Counter({
    name: "reseller_placements_total",
    help: "Attempts to place an order with its provider, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  const webhooks = new Counter({
    name: "reseller_webhook_deliveries_total",
    help: "Attempts to deliver a webhook, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  const alerts = new Counter({
    name: "reseller_alert_deliveries_total",
    help: "Attempts to send an alert to the operator, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  const commits = new Histogram({
    name: "reseller_commit_duration_seconds",
    help: "Time of a batch in the writer thread, its durable commit included.",
    buckets: COMMIT_BUCKETS,
    registers,
  });
  const batches = new Histogram({
    name: "reseller_commit_batch_size",
    help: "Commands that shared a commit.",
    buckets: BATCH_BUCKETS,
    registers,
  });
  return {
    request(method, route, status, seconds) {
      const known = METHODS.has(method) ? method : "other";
      requests.note(known, route ?? "none", status, seconds);
    },
    testRequest: (status) => testRequests.inc({ status }),
    refusal: (code) => refusals.inc({ code }),
    rateLimited: (by) => limited.inc({ by }),
    replay: () => replays.inc(),
    placement: (outcome) => placements.inc({ outcome }),
    webhook: (outcome) => webhooks.inc({ outcome }),
    alert: (outcome) => alerts.inc({ outcome }),
    commit(commands, seconds) {
      commits.observe(seconds);
      batches.observe(commands);
    },
  };
}

function addFigures(registry: Registry, figures: Figures): void {
  gauge(registry, "reseller_writer_queue_length", "Commands that wait for the writer thread.", () =>
    figures.queueLength(),
  );
  gauge(registry, "reseller_database_bytes", "Size of the database file.", () =>
    figures.databaseBytes(),
  );
  gauge(registry, "reseller_wal_bytes", "Size of the write-ahead log.", () => figures.walBytes());
  gauge(registry, "reseller_disk_free_bytes", "Free room where the database is.", () =>
    figures.diskFreeBytes(),
  );
  gauge(registry, "reseller_backup_age_seconds", "Time since the newest backup was begun.", () =>
    figures.backupAgeSeconds(),
  );
  gauge(
    registry,
    "reseller_remote_backup_age_seconds",
    "Time since the newest backup that was copied off-site was begun.",
    () => figures.remoteBackupAgeSeconds(),
  );
  gauge(
    registry,
    "reseller_oldest_unchecked_order_seconds",
    "Since when the placed order that has waited longest has had no answer.",
    () => figures.oldestUncheckedSeconds(),
  );
  gauge(
    registry,
    "reseller_oldest_undelivered_webhook_seconds",
    "Age of the oldest event that an endpoint in use has not been sent.",
    () => figures.oldestUndeliveredSeconds(),
  );
  new Gauge({
    name: "reseller_alerts",
    help: "Alerts that go on, by kind.",
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
    help: "Endpoints of webhooks that are disabled, by why.",
    labelNames: ["reason"],
    registers: [registry],
    async collect() {
      const counts = await figures.disabledWebhooks();
      if (counts === null) return this.reset();
      for (const reason of DISABLED_REASONS) this.set({ reason }, counts[reason]);
    },
  });
  gauge(registry, "reseller_servers", "Servers that share the database, this one included.", () =>
    figures.servers(),
  );
  new Counter({
    name: "reseller_log_lines_lost_total",
    help: "Lines of the log that standard error did not take.",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(figures.lostLogLines());
    },
  });
  orderGauge(registry, "reseller_orders", "Orders by state; no test orders.", figures, "live");
  orderGauge(registry, "reseller_test_orders", "Test orders by state.", figures, "test");
}

/** Both are counted at once: the counter answers calls meanwhile with the same promise. */
function orderGauge(
  registry: Registry,
  name: string,
  help: string,
  figures: Figures,
  side: keyof OrderCounts,
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

function addProcessFigures(registry: Registry): void {
  const figure = (name: string, help: string, read: () => number) =>
    gauge(registry, name, help, read);
  figure("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  figure("process_open_fds", "Open file descriptors.", () => readProcessFigures().openFiles);
  figure(
    "process_max_fds",
    "File descriptors it may open.",
    () => readProcessFigures().openFilesLimit,
  );
  figure("process_cpu_seconds_total", "Processor time used.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  figure("process_start_time_seconds", "When it started, in seconds since 1970.", () =>
    Math.round(performance.timeOrigin / 1000),
  );
}

/** A gauge that is read at each scrape; null leaves it out. */
function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Awaitable<number | null>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      // `reset` would set it to 0.
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
