// `bun bench/following.ts [ORDERS]`: how long one poll of every open order takes, and what memory it needs.
// The server runs from source; the provider is in this process and answers at once that all are in progress.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claimDataDirectory, openForCommand } from "../src/storage/file/open.ts";
import { execute } from "../src/operations/batch/execute.ts";

const ORDERS = Number(process.argv[2] ?? 100_000);
const SAMPLE_MS = 250;
const MAIN = new URL("../src/main.ts", import.meta.url).pathname;

const folder = mkdtempSync(join(tmpdir(), "reseller-following-"));
const asked = new Set<string>();
let largest = 0;
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const form = new URLSearchParams(await request.text());
    const orders = (form.get("orders") ?? form.get("order") ?? "").split(",");
    largest = Math.max(largest, orders.length);
    for (const order of orders) asked.add(order);
    const entry = { status: "In progress", start_count: "1", remains: "1", charge: "0.1" };
    const body = form.has("order")
      ? entry
      : Object.fromEntries(orders.map((order) => [order, entry]));
    return Response.json(body);
  },
});

claimDataDirectory(folder, Date.now()).release();
const connection = openForCommand(folder);
const run = execute.bind(null, connection.store);
const actor = { keyId: null, operator: "bench" };
await run("createUser", { username: "r", name: "r", parent: null, actor }, Date.now());
const url = upstream.url.href;
await run(
  "createProvider",
  { name: "p", protocol: "smm-api", url, key: "bench-key", actor },
  Date.now(),
);
const provider = { name: "p", service: "1" };
const terms = { name: "S", priceMicros: 0, per: "1000", min: 1, max: 10, private: false } as const;
await run("createService", { id: "s", ...terms, provider, actor }, Date.now());
connection.sqlite
  .query(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
    INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
      charge_micros, status, remains, created_at, provider_id, provider_service, placement, provider_order,
      next_poll_at, polled_at, changed_at)
    SELECT n, printf('o%023d', n), 3, 's', 'S', 0, '1000', 'https://example.com/' || n, 10, 0, 'PROCESSING', 10, ?2,
      1, '1', 'placed', n, ?2, ?2, ?2 FROM numbers`,
  )
  .run(ORDERS, Date.now() - 60_000);
connection.sqlite.close();

const server = Bun.spawn(
  [
    "bun",
    MAIN,
    "serve",
    "--data",
    folder,
    "--port",
    "0",
    "--log-level",
    "error",
    "--poll-interval",
    "10m",
  ],
  { stdout: "pipe", stderr: "inherit", cwd: folder },
);
await server.stdout.getReader().read();
const started = performance.now();
const idleMiB = residentMiB();
let mostMiB = 0;
while (asked.size < ORDERS) {
  await Bun.sleep(SAMPLE_MS);
  mostMiB = Math.max(mostMiB, residentMiB());
}
const seconds = (performance.now() - started) / 1000;
process.stdout.write(
  `${ORDERS} open orders, each looked at once in ${seconds.toFixed(1)} s, at most ${largest} a question; resident ${idleMiB} MiB at the start, ${mostMiB} MiB at most\n`,
);
server.kill("SIGTERM");
await server.exited;
await upstream.stop(true);
rmSync(folder, { recursive: true, force: true });

function residentMiB(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
}
