// Metrics over the compiled binary, read by a Prometheus parser; the dashboard uses only metrics that exist.

import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import parse, { type ParsedMetric } from "parse-prometheus-text-format";
import { binaryJson, type Serving, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const DASHBOARD = new URL("../../../deploy/grafana-dashboard.json", import.meta.url).pathname;
/** What a histogram called x gives Prometheus besides. */
const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/;

interface Scrape {
  /** By name, as Prometheus groups them. */
  families: Map<string, ParsedMetric>;
  /** By name, a histogram's parts each for itself: the parser forgets their labels when it joins them. */
  samples: Map<string, ParsedMetric[]>;
}

async function scrape(server: Serving): Promise<Scrape> {
  await until(() => server.stderr().includes('"metrics":"http'));
  const url = /"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!;
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const text = await response.text();
  return {
    families: new Map(parse(text).map((metric) => [metric.name, metric])),
    samples: Map.groupBy(parse(text.replace(/^# .*$/gm, "")), ({ name }) => name),
  };
}

function value({ samples }: Scrape, name: string, labels: Record<string, string> = {}): number {
  const found = samples
    .get(name)!
    .flatMap(({ metrics }) => metrics)
    .filter((entry) => Bun.deepEquals(entry.labels ?? {}, labels));
  expect([name, labels, found.length]).toEqual([name, labels, 1]);
  return Number(found[0]!.value);
}

test("a Prometheus parser reads what happened: requests, refusals, commits, orders, sizes", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--metrics-listen", "127.0.0.1:0");
  const order = { service: "s", link: "x", quantity: 1 };
  for (let placed = 0; placed < 5; placed++)
    await callApi(server.url, "POST", "/orders", key, order);
  await callApi(server.url, "POST", "/orders", key, { ...order, quantity: 5000 });
  await callApi(server.url, "GET", "/balance", "unknown");
  await callApi(server.url, "GET", "/zqx7path", key);
  const first = await scrape(server);
  const orders = { method: "POST", route: "/api/v1/orders" };
  const answers = "reseller_http_request_duration_seconds_count";
  expect(value(first, answers, { ...orders, status: "200" })).toBe(5);
  expect(value(first, answers, { ...orders, status: "400" })).toBe(1);
  expect(value(first, answers, { method: "GET", route: "none", status: "404" })).toBe(1);
  expect(value(first, "reseller_refusals_total", { code: "quantity_above_maximum" })).toBe(1);
  expect(value(first, "reseller_refusals_total", { code: "api_key_invalid" })).toBe(1);
  expect(value(first, "reseller_commit_duration_seconds_count")).toBeGreaterThanOrEqual(5);
  expect(value(first, "reseller_commit_batch_size_sum")).toBeGreaterThanOrEqual(5);
  expect(value(first, "reseller_orders", { status: "PROCESSING" })).toBe(5);
  expect(value(first, "reseller_writer_queue_length")).toBe(0);
  for (const name of ["reseller_database_bytes", "reseller_disk_free_bytes", "process_open_fds"]) {
    expect(value(first, name)).toBeGreaterThan(0);
  }
  expect(JSON.stringify([...first.samples.values()])).not.toContain("zqx7path");

  await binaryJson(folder, "admin", "order", "complete", "1");
  await binaryJson(folder, "admin", "order", "cancel", "2");
  await callApi(server.url, "POST", "/orders", key, order);
  const second = await scrape(server);
  const statuses = ["PROCESSING", "COMPLETED", "CANCELLED"];
  expect(statuses.map((status) => value(second, "reseller_orders", { status }))).toEqual([4, 1, 1]);
  await stop(server);
});

test("limited requests are counted by what limited them", async () => {
  const flags = ["--metrics-listen", "127.0.0.1:0", "--rate-limit", "1/h"];
  const { server, key } = await stall(freshFolder(), ...flags);
  for (let asked = 0; asked < 4; asked++) await callApi(server.url, "GET", "/balance", key);
  // An address may send 20 unknown keys a minute: on a slow machine some more before it is limited.
  for (let limited = 0; limited < 3;) {
    const { status } = await callApi(server.url, "GET", "/balance", "unknown");
    if (status === 429) limited += 1;
  }
  const metrics = await scrape(server);
  expect(value(metrics, "reseller_rate_limited_total", { by: "key" })).toBe(2);
  expect(value(metrics, "reseller_rate_limited_total", { by: "address" })).toBe(3);
  await stop(server);
});

test("the dashboard asks for metrics that exist, and shows every one of ours", async () => {
  const { server } = await stall(freshFolder(), "--metrics-listen", "127.0.0.1:0");
  const { families } = await scrape(server);
  const dashboard = JSON.parse(readFileSync(DASHBOARD, "utf8"));
  const queries: string[] = dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
    panel.targets.map(({ expr }) => expr),
  );
  const asked = new Set(queries.join(" ").match(/\b(reseller|process)_\w+/g));
  const base = (name: string) => (families.has(name) ? name : name.replace(HISTOGRAM_SUFFIX, ""));
  expect([...asked].filter((name) => !families.has(base(name)))).toEqual([]);
  const shown = new Set([...asked].map(base));
  expect([...families.keys()].filter((name) => !shown.has(name))).toEqual([]);
  await stop(server);
});

test("no metrics are served unless --metrics-listen is set", async () => {
  const { server } = await stall(freshFolder());
  await until(() => server.stderr().includes("started"));
  expect(server.stderr()).toContain('"metrics":null');
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  await stop(server);
});
