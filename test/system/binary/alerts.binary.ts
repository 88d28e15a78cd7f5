// The metrics and the alerts as Prometheus' own tool sees them: promtool checks both, and runs the alerts over what a
// server was scraped for.

import { writeFileSync } from "node:fs";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expect, test } from "bun:test";
import parse from "parse-prometheus-text-format";
import { binaryJson, serving, type Serving, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const ALERTS = new URL("../../../deploy/alerts.yml", import.meta.url).pathname;
const RULE_TESTS = new URL("alerts.rules.yml", import.meta.url).pathname;
/** Samples of a minute each, before and after what happened. */
const BEFORE = 10;
const AFTER = 20;

function promtool(argv: string[], stdin = "") {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["promtool", ...argv], {
    stdin: Buffer.from(stdin),
  });
  return { exitCode, text: stdout.toString() + stderr.toString() };
}

async function scrape(server: Serving): Promise<string> {
  await until(() => server.stderr().includes('"metrics":"http'));
  return (await fetch(/"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!)).text();
}

/** `name{labels}` → value, as it stands in the text. */
function seriesOf(text: string): Map<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
}

test("every alert fires when it should and not before", () => {
  expect(promtool(["check", "rules", ALERTS])).toMatchObject({ exitCode: 0 });
  expect(promtool(["test", "rules", RULE_TESTS])).toMatchObject({ exitCode: 0 });
});

test("promtool finds nothing wrong with the metrics; series are 0 before their first event; the alerts see what was scraped", async () => {
  const upstream = await startUpstream();
  const folder = freshFolder();
  const database = freshDatabase(join(folder, "data"));
  const { url } = upstream;
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  database.user("anna", "1000");
  const { text: key } = database.key("anna", "full");
  const provided = database.service({ provider: { name: "acme", service: "7" }, min: 1 });
  const manual = database.service({ id: "manual", min: 1 });
  database.connection.sqlite.close();
  const server = await serving(folder, "serve", "--metrics-listen", "127.0.0.1:0");

  const first = await scrape(server);
  expect(promtool(["check", "metrics"], first)).toEqual({ exitCode: 0, text: "" });
  const before = seriesOf(first);
  const types = new Map(parse(first).map(({ name, type }) => [name, type]));
  expect(types.get("process_cpu_seconds_total")).toBe("COUNTER");
  for (const series of [
    ...["accepted", "refused", "not_sent", "unknown", "expired"].map(
      (outcome) => `reseller_placements_total{provider="acme",outcome="${outcome}"}`,
    ),
    ...["delivered", "status", "timeout", "internal"].map(
      (outcome) => `reseller_webhook_deliveries_total{outcome="${outcome}"}`,
    ),
    ...["key", "address"].map((by) => `reseller_rate_limited_total{by="${by}"}`),
    ...["api_key_invalid", "insufficient_balance", "service_unavailable"].map(
      (code) => `reseller_refusals_total{code="${code}"}`,
    ),
    "reseller_internal_errors_total",
    "reseller_idempotent_replays_total",
    "reseller_log_lines_lost_total",
    'reseller_test_requests_total{status="200"}',
    'reseller_unknown_orders{provider="acme"}',
    'reseller_provider_paused{provider="acme"}',
    ...["/api/v1/orders", "/api/v2 add"].map(
      (route) =>
        `reseller_http_request_duration_seconds_count{method="POST",route="${route}",status="200"}`,
    ),
  ]) {
    expect([series, before.get(series)]).toEqual([series, "0"]);
  }

  // The reply is lost: nobody knows whether the provider has the order.
  upstream.next("add", "reset");
  await callApi(server.url, "POST", "/orders", key, { service: provided, link: "x", quantity: 1 });
  await until(() => server.stderr().includes("submission outcome unknown"));
  await callApi(server.url, "GET", "/balance", "rk_unknown");
  const broken = new Database(join(folder, "data", "reseller.db"));
  broken.run(
    "CREATE TRIGGER broken BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'broken'); END",
  );
  broken.close();
  const order = { service: manual, link: "x", quantity: 1 };
  expect((await callApi(server.url, "POST", "/orders", key, order)).status).toBe(500);

  const second = await scrape(server);
  expect(promtool(["check", "metrics"], second)).toEqual({ exitCode: 0, text: "" });
  const after = seriesOf(second);
  for (const series of [
    'reseller_placements_total{provider="acme",outcome="unknown"}',
    'reseller_unknown_orders{provider="acme"}',
    'reseller_refusals_total{code="api_key_invalid"}',
    "reseller_internal_errors_total",
  ]) {
    expect([series, after.get(series)]).toEqual([series, "1"]);
  }
  await binaryJson(folder, "admin", "order", "list", "--unknown");
  await stop(server);
  await upstream.stop();

  const rules = join(folder, "rules.json");
  writeFileSync(rules, JSON.stringify(ruleTest(before, after)));
  expect(promtool(["test", "rules", rules])).toMatchObject({ exitCode: 0 });
});

/** JSON is YAML. The room on the disk is this machine's. */
function ruleTest(before: Map<string, string>, after: Map<string, string>): object {
  const scraped = [...after].map(([series, value]) => {
    const was = before.get(series);
    return {
      series: withJob(series),
      values: `${was === undefined ? `_x${BEFORE}` : `${was}x${BEFORE - 1}`} ${value}x${AFTER}`,
    };
  });
  const firing = ["ResellerInternalErrors", "ResellerUnknownOrders"];
  return {
    rule_files: [ALERTS],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: [{ series: withJob("up"), values: `1x${BEFORE + AFTER}` }, ...scraped],
        promql_expr_test: [
          {
            expr: 'count by (alertname) (ALERTS{alertstate="firing", alertname!="ResellerDiskLow"})',
            eval_time: `${BEFORE + 7}m`,
            exp_samples: firing.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
          },
          {
            expr: 'count(ALERTS{alertstate="firing", alertname!="ResellerDiskLow"})',
            eval_time: `${BEFORE - 1}m`,
          },
        ],
      },
    ],
  };
}

function withJob(series: string): string {
  const [, name, labels = ""] = /^([^{]+)(?:\{(.*)\})?$/.exec(series)!;
  return `${name}{${[labels, 'job="reseller"', 'instance="a"'].filter((label) => label !== "").join(",")}}`;
}
