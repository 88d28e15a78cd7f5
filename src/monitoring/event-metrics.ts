// Metrics of events, counted as they happen.

import { Counter, Histogram, type Registry } from "prom-client";
import { SUBMISSION_OUTCOMES } from "../domain/delivery/deliveries.ts";
import { REQUEST_KINDS, type RequestResult } from "../domain/orders/order-requests.ts";
import { MAIL_FAILURES } from "../domain/mails/mails.ts";
import { WEBHOOK_OUTCOMES } from "../domain/webhooks/webhooks.ts";
import type { ProviderFigures } from "./figures.ts";
import type { KnownLabels, Observer } from "./observer.ts";
import { createRequestTimes } from "./request-times.ts";

const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const COMMIT_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const REQUEST_OUTCOMES = [
  "accepted",
  "refused",
  "not_sent",
  "unknown",
] as const satisfies readonly RequestResult["outcome"][];
const METHODS = new Set(["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]);

export function createObserver(
  registry: Registry,
  { routes, codes }: KnownLabels,
  providers: () => Promise<readonly ProviderFigures[] | null>,
): Observer {
  const registers = [registry];
  const requests = createRequestTimes(
    "reseller_http_request_duration_seconds",
    "Time from receiving a request's head to answering it, by route and status.",
    REQUEST_BUCKETS,
  );
  for (const [method, route] of routes) requests.expect(method, route, 200);
  registry.registerMetric(requests.metric);
  const testRequests = new Counter({
    name: "reseller_test_requests_total",
    help: "Requests with test keys, by status. Other request metrics do not count them.",
    labelNames: ["status"],
    registers,
  });
  testRequests.inc({ status: 200 }, 0);
  const refusals = new Counter({
    name: "reseller_refusals_total",
    help: "Refused requests, by error code.",
    labelNames: ["code"],
    registers,
  });
  for (const code of codes) refusals.inc({ code }, 0);
  const internalErrors = new Counter({
    name: "reseller_internal_errors_total",
    help: "Internal errors; the log has each with its request id.",
    registers,
  });
  const limited = new Counter({
    name: "reseller_rate_limited_total",
    help: "Requests over a rate limit: per key, or per address for unknown keys.",
    labelNames: ["by"],
    registers,
  });
  for (const by of ["key", "address"]) limited.inc({ by }, 0);
  const replays = new Counter({
    name: "reseller_idempotent_replays_total",
    help: "Repeated requests answered from their Idempotency-Key.",
    registers,
  });
  const placements = new Counter({
    name: "reseller_placements_total",
    help: "Attempts to submit an order to its provider, by outcome.",
    labelNames: ["provider", "outcome"],
    registers,
    async collect() {
      for (const { name: provider } of (await providers()) ?? []) {
        for (const outcome of SUBMISSION_OUTCOMES) this.inc({ provider, outcome }, 0);
      }
    },
  });
  const orderRequests = new Counter({
    name: "reseller_order_requests_sent_total",
    help: "Cancel and refill requests sent to a provider, by outcome.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  for (const kind of REQUEST_KINDS) {
    for (const outcome of REQUEST_OUTCOMES) orderRequests.inc({ kind, outcome }, 0);
  }
  const webhooks = new Counter({
    name: "reseller_webhook_deliveries_total",
    help: "Attempts to deliver a webhook, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of WEBHOOK_OUTCOMES) webhooks.inc({ outcome }, 0);
  const alerts = new Counter({
    name: "reseller_alert_deliveries_total",
    help: "Attempts to send an alert to the operator, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of WEBHOOK_OUTCOMES) alerts.inc({ outcome }, 0);
  const mails = new Counter({
    name: "reseller_mails_total",
    help: "Attempts to send an e-mail, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["sent", ...MAIL_FAILURES]) mails.inc({ outcome }, 0);
  const payments = new Counter({
    name: "reseller_payment_calls_total",
    help: "Calls to payment methods (begin, read) and notices from them, by outcome.",
    labelNames: ["call", "outcome"],
    registers,
  });
  const commits = new Histogram({
    name: "reseller_commit_duration_seconds",
    help: "Time of a batch in the writer thread, including its durable commit.",
    buckets: COMMIT_BUCKETS,
    registers,
  });
  const batches = new Histogram({
    name: "reseller_commit_batch_size",
    help: "Commands in one commit.",
    buckets: BATCH_BUCKETS,
    registers,
  });
  return {
    request(method, route, status, seconds) {
      const known = METHODS.has(method) ? method : "other";
      requests.record(known, route ?? "none", status, seconds);
    },
    testRequest: (status) => testRequests.inc({ status }),
    refusal: (code) => refusals.inc({ code }),
    rateLimited: (by) => limited.inc({ by }),
    replay: () => replays.inc(),
    internalError: () => internalErrors.inc(),
    placement: (provider, outcome) => placements.inc({ provider, outcome }),
    orderRequest: (kind, outcome) => orderRequests.inc({ kind, outcome }),
    webhook: (outcome) => webhooks.inc({ outcome }),
    alert: (outcome) => alerts.inc({ outcome }),
    mail: (outcome) => mails.inc({ outcome }),
    payment: (call, outcome) => payments.inc({ call, outcome }),
    commit(commands, seconds) {
      commits.observe(seconds);
      batches.observe(commands);
    },
  };
}
