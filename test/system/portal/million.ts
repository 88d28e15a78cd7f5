// Measures every page of the portal, and its lists with each filter, with a million orders:
// `bun test/system/portal/million.ts [ORDERS [RESELLERS]]`. One reseller has them all unless said otherwise.

import { TRANSFER_KINDS } from "../../../src/domain/ledger/ledger.ts";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";
import { ROUTES } from "../../../src/portal/server/routes.ts";
import { fillInBulk } from "../../support/databases/bulk.ts";
import { openPortal } from "../../support/worlds/portal.ts";

const ORDERS = Number(process.argv[2] ?? 1_000_000);
const RESELLERS = Number(process.argv[3] ?? 1);
const ROUNDS = 20;
/** Deliveries of the webhook that were made, and as many that wait. */
const DELIVERIES = 100_000;
const DAYS = 30;
/** A page may take the processor this long. */
const BAR_MS = 50;

const portal = await openPortal();
const begin = Date.now() - DAYS * 86_400_000;
fillInBulk(portal, ORDERS, 20, `${begin} + n * ${(DAYS * 86_400_000) / ORDERS}`, RESELLERS);
const cookie = portal.session(portal.member("bulk0", "ann@alice.example"));
const hook = { username: "bulk0", url: "https://hooks.example/", events: "*", secret: "s" };
const webhook = portal.run("createWebhook", { ...hook, balanceLowBelow: null }).id;
fillWebhook();
await portal.completionTimes.read();

const order = String(ORDERS - (ORDERS % 1000));
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const values: Record<string, string> = {
  order,
  service: "1",
  webhook,
  month: day(10).slice(0, 7),
};
const pages = ROUTES.flatMap(({ method, path, role }) => {
  if (method !== "GET" || role === "anyone" || path.endsWith(".csv")) return [];
  const asked = path.replace(/:(\w+)/g, (each, name: string) => values[name] ?? each);
  // Others are of something that this database has few of.
  return asked.includes(":") ? [] : [asked];
});
const window = `from=${day(20)}&to=${day(5)}`;
const lists = [
  ...ORDER_STATUSES.flatMap((status) => [`status=${status}`, `status=${status}&${window}`]),
  window,
  `below=${Math.round(ORDERS / 2)}`,
  "q=no-such-link",
  `q=no-such-link&${window}`,
  "q=00",
].map((query) => `/orders?${query}`);
const kinds = TRANSFER_KINDS.flatMap((kind) => [`kind=${kind}`, `kind=${kind}&${window}`]).map(
  (query) => `/balance?${query}`,
);

// From source the first page of a process compiles what all pages use; the program has that compiled.
await portal.get("/", cookie);
let slowest = 0;
for (const asked of [...pages, ...lists, ...kinds, "/services?q=follow", "/services.csv"]) {
  const took: number[] = [];
  const busy: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [begun, used] = [performance.now(), process.cpuUsage()];
    const { status } = await portal.get(asked, cookie);
    took.push(performance.now() - begun);
    const { user, system } = process.cpuUsage(used);
    busy.push((user + system) / 1000);
    // A month with thousands of credits has no statement.
    if (status >= 400) throw new Error(`${asked}: ${status}`);
  }
  const [median, most] = middleAndMost(took);
  const [cpu, mostCpu] = middleAndMost(busy);
  slowest = Math.max(slowest, most);
  const mark = mostCpu > BAR_MS ? " over the bar" : "";
  console.log(
    `${asked}: median ${median} ms, slowest ${most} ms; processor ${cpu} ms, at most ${mostCpu}${mark}`,
  );
}
console.log(`the slowest single request took ${slowest} ms`);
await portal.stop();

/** On a machine with other load, the processor's time says more than the time that passed. */
function middleAndMost(values: readonly number[]): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  return [sorted[ROUNDS / 2]!, sorted.at(-1)!].map((value) => Math.round(value * 10) / 10) as [
    number,
    number,
  ];
}

function fillWebhook(): void {
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${2 * DELIVERIES})`;
  const { sqlite } = portal.connection;
  sqlite.run("BEGIN IMMEDIATE");
  sqlite.run(`${numbers} INSERT INTO webhook_events (event_id, id, reseller_account, type, body, created_at)
    SELECT n, printf('evt_%024d', n), reseller_account, 'balance.low', '{}', ${begin} + n FROM numbers, webhooks`);
  sqlite.run(`INSERT INTO webhook_deliveries (delivery_id, webhook_id, event_id, state, due_at, attempts, tries)
    SELECT event_id, webhook_id, event_id, iif(event_id % 2, 'waiting', 'delivered'),
      iif(event_id % 2, webhook_events.created_at, NULL), 1 - event_id % 2, 3 FROM webhook_events, webhooks`);
  sqlite.run(`INSERT INTO webhook_attempts (delivery_id, webhook_id, attempt, at, duration_ms, http_status, response)
    SELECT delivery_id, webhook_id, 1, ${begin} + delivery_id, 12, 200, 'ok'
    FROM webhook_deliveries WHERE state = 'delivered'`);
  sqlite.run("COMMIT");
}
