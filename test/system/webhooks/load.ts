// `bun run test:webhooks`: 100,000 events to 100 endpoints of which 10 never reply. The other 90 must have all of theirs
// within 60 s, each once and signed, while the server's memory stays flat.

import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Webhook } from "standardwebhooks";
import { threadMicroseconds } from "../../../bench/tools/processes.ts";
import { median } from "../../../bench/tools/results.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { WEBHOOK_ATTEMPTS } from "../../../src/domain/webhooks/webhook-schedule.ts";
import { formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { binaryJson, serving, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "100000" },
    endpoints: { type: "string", default: "100" },
    hanging: { type: "string", default: "10" },
  },
});
const [EVENTS, ENDPOINTS, HANGING] = [values.events, values.endpoints, values.hanging].map(Number);
if (!EVENTS || !ENDPOINTS || HANGING === undefined || EVENTS % ENDPOINTS !== 0) {
  process.stderr.write("usage: load.ts [--events N] [--endpoints N] [--hanging N]\n");
  process.exit(2);
}
const LIMIT_MS = 60_000;
/** What is flat: the median of the last quarter of the samples against that of the first after warming up. */
const GROWTH_LIMIT_BYTES = 24 * 1024 * 1024;
const SAMPLE_MS = 250;
const WARM_SAMPLES = 40;
const ENDPOINTS_PER_RESELLER = 10;
/** One of so many is verified: verifying all would take the receivers longer than the server. */
const VERIFIED_EVERY = 50;

interface Endpoint {
  webhookId: number;
  account: number;
  url: string;
  secret: string;
  hangs: boolean;
  received: Map<string, number>;
  /** Requests under way. */
  open: number;
  mostOpen: number;
}

let verified = 0;
let completeAt = 0;
const each = EVENTS / ENDPOINTS;
const endpoints: Endpoint[] = [];
const replying = () => endpoints.filter(({ hangs }) => !hangs);

/** An endpoint with a port of its own. */
function listen(index: number, account: number): Endpoint {
  const secret = formatSecret(crypto.getRandomValues(new Uint8Array(32)));
  const webhook = new Webhook(secret);
  const endpoint: Endpoint = {
    webhookId: index + 1,
    account,
    url: "",
    secret,
    hangs: index % Math.floor(ENDPOINTS! / Math.max(HANGING!, 1)) === 0 && index < ENDPOINTS!,
    received: new Map(),
    open: 0,
    mostOpen: 0,
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      endpoint.open += 1;
      endpoint.mostOpen = Math.max(endpoint.mostOpen, endpoint.open);
      request.signal.addEventListener("abort", () => (endpoint.open -= 1));
      const body = await request.text();
      const id = request.headers.get("webhook-id")!;
      if (endpoint.hangs) return new Promise<Response>(() => {});
      if (endpoint.received.size % VERIFIED_EVERY === 0) {
        webhook.verify(body, Object.fromEntries(request.headers));
        verified += 1;
      }
      endpoint.received.set(id, (endpoint.received.get(id) ?? 0) + 1);
      endpoint.open -= 1;
      if (endpoint.received.size === each && replying().every((one) => one.received.size === each))
        completeAt = performance.now();
      return new Response(null, { status: 204 });
    },
  });
  endpoint.url = `http://127.0.0.1:${server.port}/hook`;
  return endpoint;
}

/** All events in one transaction, as one change of the catalogue would write them. */
function writeEvents(path: string): void {
  const sqlite = new Database(path);
  sqlite.run("PRAGMA busy_timeout = 60000");
  const now = Date.now();
  const insertWebhook = sqlite.query(
    "INSERT INTO webhooks (webhook_id, id, reseller_account, url, events, secret, active, created_at) VALUES (?, ?, ?, ?, '*', ?, 1, ?)",
  );
  const insertEvent = sqlite.query(
    "INSERT INTO webhook_events (event_id, id, reseller_account, type, body, created_at) VALUES (?, ?, ?, 'service.changed', ?, ?)",
  );
  const insertDelivery = sqlite.query(
    "INSERT INTO webhook_deliveries (webhook_id, event_id, state, due_at, tries) VALUES (?, ?, 'waiting', ?, ?)",
  );
  sqlite.transaction(() => {
    for (const { webhookId, account, url, secret } of endpoints) {
      insertWebhook.run(webhookId, createId(), account, url, secret, now);
    }
    for (let event = 1; event <= EVENTS!; event += 1) {
      const { webhookId, account } = endpoints[event % ENDPOINTS!]!;
      const data = {
        service: { id: "s", name: "Followers", price: event / 1000, min: 1, max: 1000 },
      };
      const timestamp = new Date(now).toISOString();
      const body = JSON.stringify({ type: "service.changed", timestamp, data });
      insertEvent.run(event, `evt_${createId()}`, account, body, now);
      insertDelivery.run(webhookId, event, now, WEBHOOK_ATTEMPTS);
    }
  })();
  sqlite.close();
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}

const folder = freshFolder();
const flags = ["--webhook-allow", "127.0.0.0/8", "--webhook-allow-http"];
const server = await serving(folder, "serve", "--data", "data", "--backup-every", "0", ...flags);
for (let index = 0; index < ENDPOINTS; index += 1) {
  const reseller = Math.floor(index / ENDPOINTS_PER_RESELLER);
  if (index % ENDPOINTS_PER_RESELLER === 0) {
    await binaryJson(folder, "admin", "user", "create", `r${reseller}`, "--data", "data");
  }
}
const path = join(folder, "data", "reseller.db");
const reader = new Database(path, { readonly: true });
const accounts = reader
  .query<{ account: number }, []>("SELECT account FROM users ORDER BY account")
  .all();
for (let index = 0; index < ENDPOINTS; index += 1) {
  endpoints.push(listen(index, accounts[Math.floor(index / ENDPOINTS_PER_RESELLER)]!.account));
}
writeEvents(path);
const before = residentBytes(server.pid);
const usedBefore = threadMicroseconds(server.pid);
const receiversBefore = process.cpuUsage();
const started = performance.now();
let peak = before;
const samples: number[] = [];
while (completeAt === 0 && performance.now() - started < 2 * LIMIT_MS) {
  await Bun.sleep(SAMPLE_MS);
  const bytes = residentBytes(server.pid);
  peak = Math.max(peak, bytes);
  samples.push(bytes);
}
const seconds = ((completeAt || performance.now()) - started) / 1000;
const used = threadMicroseconds(server.pid);
const receivers = process.cpuUsage(receiversBefore);
const received = replying().reduce((sum, endpoint) => sum + endpoint.received.size, 0);
const doubled = replying()
  .flatMap((endpoint) => [...endpoint.received.values()])
  .filter((count) => count > 1).length;
const most = Math.max(...endpoints.map(({ mostOpen }) => mostOpen));
const attempts = reader
  .query<{ error: string | null; count: number }, []>(
    "SELECT error, count(*) AS count FROM webhook_attempts GROUP BY error",
  )
  .all();
reader.close();
await stop(server);

const mebibytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
const warm = samples.slice(WARM_SAMPLES);
const quarter = Math.ceil(warm.length / 4);
const [first, last] = [median(warm.slice(0, quarter)), median(warm.slice(-quarter))];
const report = {
  events: EVENTS,
  endpoints: ENDPOINTS,
  hanging: endpoints.filter(({ hangs }) => hangs).length,
  received,
  expected: each * replying().length,
  seconds: Number(seconds.toFixed(1)),
  aSecond: Math.round(received / seconds),
  /** Processor time a delivery in microseconds, which depends less on what else runs on the machine. */
  processorMicroseconds: {
    ...Object.fromEntries(
      Object.entries(used).map(([thread, microseconds]) => [
        thread,
        Math.round((microseconds - (usedBefore[thread] ?? 0)) / received),
      ]),
    ),
    receivers: Math.round((receivers.user + receivers.system) / received),
  },
  doubled,
  verified,
  mostOpenAtOneEndpoint: most,
  memoryMiB: {
    before: mebibytes(before),
    firstQuarter: mebibytes(first),
    lastQuarter: mebibytes(last),
    peak: mebibytes(peak),
  },
  attempts,
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const problems = [
  received !== report.expected && "not all were delivered",
  seconds * 1000 > LIMIT_MS && `it took longer than ${LIMIT_MS / 1000} s`,
  doubled > 0 && "some were delivered twice",
  most > 4 && "more than 4 were under way at one endpoint",
  last - first > GROWTH_LIMIT_BYTES && "memory grew",
].filter((problem) => problem !== false);
process.stdout.write(problems.length === 0 ? "holds\n" : `MISSED: ${problems.join("; ")}\n`);
process.exit(problems.length === 0 ? 0 : 1);
