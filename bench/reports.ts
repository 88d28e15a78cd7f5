// `bun bench/reports.ts [ORDERS]`: reports of a month of a million orders with refunds and costs, before and after their
// totals are counted; for how long each keeps the event loop; and what the counting takes.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { recordAllClockSteps } from "../src/db/sqlite/clock-steps.ts";
import { REPORT_KEYS, type ReportKey } from "../src/db/reports/reports.ts";
import { readReport, totalOf } from "../src/reports/reports.ts";
import { execute } from "../src/operations/batch/execute.ts";
import { claimDataDirectory, databasePath, openForCommand } from "../src/storage/file/open.ts";

const ORDERS = Number(process.argv[2] ?? 1_000_000);
const [SERVICES, RESELLERS, PROVIDERS] = [1000, 16, 4];
const DAY_MS = 86_400_000;
const DAYS = 30;
const LIMIT = 2000;
const TIMES = 5;

const folder = mkdtempSync(join(tmpdir(), "reseller-bench-reports-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const month = { from: today - (DAYS - 1) * DAY_MS, to: today + DAY_MS - 1 };

fill();
const { store } = openForCommand(folder);
await measure("before totals are counted", 1);
await count();
await measure("from totals", TIMES);
await measureCommand();

/** A third of the orders by hand; one of eight refunded a day later; a cost for each of the others. */
function fill(): void {
  claimDataDirectory(folder, Date.now()).release();
  const database = new Database(databasePath(folder), { readwrite: true, create: false });
  for (const pragma of ["synchronous = OFF", "foreign_keys = OFF", "cache_size = -500000"]) {
    database.run(`PRAGMA ${pragma}`);
  }
  const numbers = (upTo: number) =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${upTo})`;
  const id = "'a' || substr(lower(hex(randomblob(12))), 2)";
  const first = month.from;
  const step = Math.floor((DAYS * DAY_MS) / ORDERS);
  const statements = [
    `INSERT INTO accounts (account, kind) ${numbers(RESELLERS)} SELECT n + 2, 'user' FROM numbers`,
    `INSERT INTO users (account, id, username, name, created_at) ${numbers(RESELLERS)} SELECT n + 2, ${id}, 'reseller' || n, 'r', 0 FROM numbers`,
    `INSERT INTO providers (provider_id, name, protocol, url, key, created_at) ${numbers(PROVIDERS)} SELECT n, 'p' || n, 'smm-api', 'http://p', 'k', 0 FROM numbers`,
    `INSERT INTO services (id, name, price_micros, per, min, max, active, private, created_at, delisted, number) ${numbers(SERVICES)} SELECT 'service-' || n, 's', 1, '1', 1, 100, 1, 0, 0, 0, n FROM numbers`,
    `INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity, charge_micros, refunded_micros, status, remains, created_at, provider_id, provider_service, placement, provider_order, polled_at, changed_at)
      ${numbers(ORDERS)} SELECT n, ${id}, 3 + n % ${RESELLERS}, 'service-' || (1 + n % ${SERVICES}), 's', 10000, '1', 'x', 100, 1000000 + n,
        CASE n % 8 WHEN 0 THEN 1000000 + n ELSE 0 END, CASE n % 8 WHEN 0 THEN 'CANCELLED' ELSE 'COMPLETED' END, 0, ${first} + (n - 1) * ${step},
        CASE WHEN n % 3 > 0 THEN 1 + n % ${PROVIDERS} END, CASE WHEN n % 3 > 0 THEN '7' END, CASE WHEN n % 3 > 0 THEN 'placed' ELSE 'manual' END,
        CASE WHEN n % 3 > 0 THEN CAST(n AS TEXT) END, CASE WHEN n % 3 > 0 THEN ${first} END, CASE WHEN n % 3 > 0 THEN ${first} END FROM numbers`,
    `INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, created_at, balance_after_micros)
      SELECT reseller_account, 2, charge_micros, 'order', order_id, created_at, 0 FROM orders ORDER BY order_id`,
    `INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, created_at, balance_after_micros)
      SELECT 2, reseller_account, charge_micros, 'refund', order_id, created_at + ${DAY_MS}, 0 FROM orders WHERE refunded_micros > 0 ORDER BY order_id`,
    `INSERT INTO order_costs (order_id, number, basis, amount, rate_to_usd, cost_micros, change_micros, created_at)
      SELECT order_id, 1, 'charge', '0.5', '1', 500000, 500000, created_at + 5000 FROM orders WHERE provider_id IS NOT NULL ORDER BY order_id`,
    "ANALYZE",
  ];
  database.transaction(() => {
    for (const statement of statements) database.run(statement);
    recordAllClockSteps(database);
  })();
  database.close();
}

async function measure(what: string, times: number): Promise<void> {
  for (const by of REPORT_KEYS) {
    const taken: number[] = [];
    let longest = 0;
    let last = performance.now();
    const before = process.cpuUsage();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    for (let time = 0; time < times; time++) {
      const started = performance.now();
      const rows = await readReport(store, by as ReportKey, month);
      taken.push(performance.now() - started);
      if (totalOf(rows).orders !== ORDERS) throw new Error("orders are missing");
      await Bun.sleep(2);
    }
    clearInterval(watch);
    const { user, system } = process.cpuUsage(before);
    const own = (user + system) / 1000 / times;
    say(
      `${what}, by ${by}: ${median(taken).toFixed(1)} ms, ${own.toFixed(1)} of the processor, longest step ${longest.toFixed(1)} ms`,
    );
  }
}

/** As the job does, without its pauses. */
async function count(): Promise<void> {
  const steps: number[] = [];
  const before = process.cpuUsage();
  for (;;) {
    const started = performance.now();
    const result = await execute(store, "countDailyTotals", { limit: LIMIT }, Date.now());
    if (result !== "again") break;
    steps.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(before);
  const micros = user + system;
  say(
    `totals: ${steps.length} steps of ${median(steps).toFixed(1)} ms with their commits; processor: ${(micros / 1000 / steps.length).toFixed(1)} ms a step, ${(micros / ORDERS).toFixed(2)} µs an order`,
  );
}

async function measureCommand(): Promise<void> {
  const main = new URL("../src/main.ts", import.meta.url).pathname;
  const argv = ["report", "--by", "service", "--json", "--data", folder];
  const from = new Date(month.from).toISOString().slice(0, 10);
  const taken: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const started = performance.now();
    const child = Bun.spawn([process.execPath, main, ...argv, "--from", from], {
      stdout: "ignore",
    });
    if ((await child.exited) !== 0) throw new Error("report failed");
    taken.push(performance.now() - started);
  }
  say(`the command \`report\` of the month, by service: ${median(taken).toFixed(0)} ms`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
