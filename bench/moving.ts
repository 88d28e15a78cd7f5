// `bun bench/moving.ts [ORDERS]`, after `bun run build`: how long `verify`, `doctor` and `move` both ways take with a million
// orders, and their memory at most. The orders are a thousand that the service placed and followed, with all that belongs to them,
// multiplied by SQL. PostgreSQL has its default settings.

import { readFileSync, statSync } from "node:fs";
import type { Database } from "bun:sqlite";
import { recordAllClockSteps } from "../src/db/sqlite/clock-steps.ts";
import { closeForCommand, openForCommand } from "../src/storage/file/open.ts";
import { execute } from "../src/operations/batch/execute.ts";
import { recountBalancesAfter } from "../test/support/databases/bulk.ts";
import { startCluster } from "../test/support/databases/postgres.ts";
import { BINARY } from "../test/support/binary.ts";
import { freshFolder } from "../test/support/folders.ts";
import { freshSqliteDatabase, type TestDatabase } from "../test/support/databases/test-database.ts";
import { say } from "./tools/say.ts";

const ORDERS = Number(process.argv[2] ?? 1_000_000);
const SEEDS = 1000;
const RESELLERS = 16;
const DAY_MS = 86_400_000;
const PROVIDER_DELAYS = { placeRetryMs: 1e9, backoffMs: 1 };

const source = fill();
const cluster = await startCluster();
await cluster.query("postgres", "CREATE DATABASE shop");
const address = `postgres://postgres@127.0.0.1:${cluster.port}/shop`;
const back = freshFolder();

await run("verify, SQLite", "verify", "--data", source);
await run("doctor, SQLite", "doctor", "--data", source);
await run("move to PostgreSQL", "move", "--from", source, "--to", address);
const [{ bytes }] = (await cluster.query(
  "shop",
  "SELECT pg_database_size('shop')::float8 AS bytes",
)) as [{ bytes: number }];
say(`PostgreSQL: ${mebibytes(bytes)} MiB`);
await run("verify, PostgreSQL", "verify", "--database", address, "--data", freshFolder());
await run("doctor, PostgreSQL", "doctor", "--database", address, "--data", freshFolder());
await run("move back", "move", "--from", address, "--to", back);
await run("verify, the copy", "verify", "--data", back);
cluster.stop("immediate");
process.exit(0);

async function run(what: string, ...command: string[]): Promise<void> {
  const started = performance.now();
  const child = Bun.spawn([BINARY, ...command], { stdout: "pipe", stderr: "pipe" });
  let most = 0;
  const watch = setInterval(() => (most = peakOf(child.pid) ?? most), 100);
  const [out, error, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1000;
  const { cpuTime } = child.resourceUsage()!;
  const own = Number(cpuTime.total) / 1e6;
  say(
    `${what}: ${seconds.toFixed(1)} s, ${own.toFixed(1)} s of the processor, ${mebibytes(most)} MiB at most`,
  );
  if (code !== 0) throw new Error(`${what}: exit ${code}: ${out}${error}`);
}

/** Returns the most memory that the process has used, or null if it has ended. getrusage would include its parent. */
function peakOf(pid: number): number | null {
  try {
    const [, kibibytes] =
      /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}

/** The data directory. */
function fill(): string {
  const database = freshSqliteDatabase();
  placeSeeds(database);
  const { sqlite } = database.connection;
  multiply(sqlite);
  balance(sqlite);
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const path = database.connection.path;
  database.close();
  countTotals(database.folder);
  say(`SQLite: ${mebibytes(statSync(path).size)} MiB`);
  return database.folder;
}

/** By turns by hand and for a provider; completed, partial, cancelled, or open; with keys of Idempotency, references and webhooks. */
function placeSeeds(database: TestDatabase): void {
  let now = Date.now() - 300 * DAY_MS;
  const at = <Name extends Parameters<TestDatabase["execute"]>[0]>(
    name: Name,
    input: Parameters<TestDatabase["execute"]>[1],
  ) => database.execute(name, input as never, (now += 1));
  const actor = { operator: "bench", keyId: null };
  const acme = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:1/", key: "k", actor };
  at("createProvider", acme);
  const byHand = database.service({ id: "by-hand" });
  const delivered = database.service({
    id: "delivered",
    provider: { name: "acme", service: "7" },
  });
  const resellers = Array.from({ length: RESELLERS }, (_, each) => {
    const username = `reseller${each}`;
    database.user(username, "10000000");
    const { id: keyId } = database.key(username, "order");
    const hook = { url: "https://shop.example/", events: "*", balanceLowBelow: null, secret: "s" };
    at("createWebhook", { ...hook, username, actor });
    const [{ account }] = database.query<{ account: number }>(
      "SELECT account FROM users WHERE username = ?",
      username,
    ) as [{ account: number }];
    return { resellerAccount: account, keyId };
  });
  const [provider] = database.query<{ provider_id: number }>(
    "SELECT provider_id FROM providers WHERE name = 'acme'",
  );
  const providerId = provider!.provider_id;
  for (let each = 0; each < SEEDS; each += 1) {
    const isDelivered = each % 2 === 0;
    const order = {
      ...resellers[each % RESELLERS]!,
      service: isDelivered ? delivered : byHand,
      link: `https://example.com/${each}`,
      quantity: 100,
      reference: each % 3 === 0 ? `r${each}` : null,
    };
    const claim = { key: `k${each}`, requestHash: "0".repeat(64) };
    if (each % 3 === 1) at("placeOrderOnce", { order, claim });
    else at("placeOrder", order);
    const [{ orderId }] = database.query<{ orderId: number }>(
      'SELECT max(order_id) AS "orderId" FROM orders',
    ) as [{ orderId: number }];
    const id = String(orderId);
    if (!isDelivered) {
      const to = (["COMPLETED", "PARTIAL", "CANCELLED", null] as const)[(each >> 1) % 4]!;
      const remains = to === "PARTIAL" ? { remains: 40 } : {};
      if (to !== null) at("transitionOrder", { id, to, note: null, actor, ...remains });
      continue;
    }
    const server = "s".repeat(24);
    const started = at("startAttempt", { orderId, providerId, server, placeRetryMs: 1e9 }) as {
      attemptId: number;
    };
    const result = { outcome: "accepted", providerOrder: `p${each}` } as const;
    at("finishAttempt", { orderId, attemptId: started.attemptId, result, ...PROVIDER_DELAYS });
    const cost = { charge: "0.0123", currency: "USD" };
    const report = { word: "Completed", startCount: 1, remains: 0, text: "{}", cost };
    at("recordReports", {
      providerId,
      pollIntervalMs: 1e9,
      jitter: 0,
      reports: [{ orderId, report }],
    });
  }
}

/** Rows of every table that grows with orders, `ORDERS / SEEDS` times, each copy later than the one before it. */
function multiply(sqlite: Database): void {
  const copies = Math.ceil(ORDERS / SEEDS) - 1;
  const [[first, last]] = sqlite
    .query("SELECT min(created_at), max(created_at) + 10 FROM transfers WHERE order_id IS NOT NULL")
    .values() as [[number, number]];
  const later = `c * ${last - first}`;
  const time = (column: string) => ({ [column]: `seed.${column} + ${later}` });
  const order = { order_id: `seed.order_id + c * ${SEEDS}` };
  const highest = (table: string, column: string) =>
    (sqlite.query(`SELECT max(${column}) FROM ${table}`).values()[0] as [number])[0];
  const numbered = (table: string, column: string) => ({
    [column]: `seed.${column} + c * ${highest(table, column)}`,
  });
  const random = (length: number) => `'a' || substr(lower(hex(randomblob(${length / 2}))), 2)`;
  const copy = (table: string, key: string, instead: Record<string, string>, which = "TRUE") => {
    const columns = (sqlite.query(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(
      ({ name }) => name,
    );
    const values = columns.map((name) => instead[name] ?? `seed.${name}`);
    sqlite.run(`INSERT INTO ${table} (${columns.join()})
      WITH RECURSIVE copies (c) AS (SELECT 1 UNION ALL SELECT c + 1 FROM copies WHERE c < ${copies})
      SELECT ${values.join()} FROM copies CROSS JOIN ${table} AS seed WHERE ${which} ORDER BY c, seed.${key}`);
  };
  const times = ["created_at", "changed_at", "polled_at"].map(time);
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run("PRAGMA cache_size = -500000");
  sqlite.run("BEGIN IMMEDIATE");
  copy("orders", "order_id", {
    ...Object.assign({}, ...times),
    ...order,
    id: random(24),
    reference: "seed.reference || '-' || c",
    provider_order: "seed.provider_order || '-' || c",
  });
  const transfers = { ...time("created_at"), ...order, ...numbered("transfers", "seq") };
  copy("transfers", "seq", transfers, "seed.order_id IS NOT NULL");
  copy("order_events", "seq", {
    ...time("created_at"),
    ...order,
    ...numbered("order_events", "seq"),
  });
  copy("attempts", "attempt_id", {
    ...order,
    ...numbered("attempts", "attempt_id"),
    ...time("started_at"),
    ...time("finished_at"),
  });
  copy("order_costs", "seq", {
    ...time("created_at"),
    ...order,
    ...numbered("order_costs", "seq"),
  });
  copy("idempotency", "seq", {
    ...order,
    ...numbered("idempotency", "seq"),
    key: "seed.key || '-' || c",
    response_body: `json_set(seed.response_body, '$.order.orderId', seed.order_id + c * ${SEEDS})`,
  });
  const event = numbered("webhook_events", "event_id");
  copy(
    "webhook_events",
    "event_id",
    { ...time("created_at"), ...order, ...event, id: `'evt_' || ${random(24)}` },
    "seed.order_id IS NOT NULL",
  );
  const ofOrder =
    "EXISTS (SELECT 1 FROM webhook_events AS e WHERE e.event_id = seed.event_id AND e.order_id IS NOT NULL)";
  copy(
    "webhook_deliveries",
    "delivery_id",
    { ...event, ...numbered("webhook_deliveries", "delivery_id") },
    ofOrder,
  );
  sqlite.run("COMMIT");
}

/** As the ledger says. */
function balance(sqlite: Database): void {
  sqlite.run("BEGIN IMMEDIATE");
  recountBalancesAfter(sqlite);
  recordAllClockSteps(sqlite);
  sqlite.run(`UPDATE users SET balance_micros = (SELECT balance_after_micros FROM transfers
    WHERE account IN (debit_account, credit_account) ORDER BY seq DESC LIMIT 1)
    WHERE username LIKE 'reseller%'`);
  sqlite.run("COMMIT");
}

/** Counts the daily totals of reports, as the server does. */
function countTotals(folder: string): void {
  const connection = openForCommand(folder);
  const count = () => execute(connection.store, "countDailyTotals", { limit: 20_000 }, Date.now());
  while (count() === "again");
  closeForCommand(connection);
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
