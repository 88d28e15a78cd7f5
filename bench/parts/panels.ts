// /api/v2 beside /api/v1 for the same work: the status of 100 orders, a catalogue of 5,000 services, an order.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "../options.ts";
import { BINARY, market, serve } from "../subjects/reseller.ts";
import { inTurn, placeOrders, read, type Running, SERVICES } from "../subjects/subject.ts";
import { freshFolder, removeFolder, runToEnd } from "../tools/children.ts";
import { load, type Shot } from "../tools/load.ts";
import { cpuSeconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, modesOf } from "./orders.ts";

const CATALOGUE = 5000;
const ORDERS = 100;

const STATUSES = `status of ${ORDERS} orders`;
const LIST = `services, ${CATALOGUE.toLocaleString("en")} of them`;
const ADD = "an order";

const panels1 = { name: "/api/v1", start };
const panels2 = { name: "/api/v2", start };

export async function panels(options: Options, results: Results): Promise<void> {
  const cases = modesOf(options).flatMap((mode) =>
    [STATUSES, LIST, ADD].map((work) => ({ ...mode, work })),
  );
  const { rounds, seconds } = options;
  await inTurn([panels1, panels2], rounds, cases, async (running, { name }, measured) => {
    const { work, connections, resellers } = measured;
    const shots = await shotsOf(work, name, running, resellers);
    const before = cpuSeconds(running.pids);
    const loaded = await load(running.url, { shots, connections, seconds });
    const { perSecond, p50, p99, requests } = loaded;
    const processor = ((cpuSeconds(running.pids) - before) / requests) * 1e6;
    const what = `${work}, ${caseOf(connections, resellers)}`;
    results.add("panels", what, name, "per second", perSecond);
    // Depends less on what else the machine does.
    results.add("panels", what, name, "processor µs", processor);
    results.add("panels", what, name, "p50 ms", p50);
    results.add("panels", what, name, "p99 ms", p99);
    say(`${what}: ${Math.round(perSecond)}/s, ${name}`);
  });
}

/** The bench's market with more services. */
async function start(env?: Record<string, string>): Promise<Running> {
  const folder = freshFolder();
  const { folder: template, keys } = await market();
  cpSync(template, folder, { recursive: true });
  const rows = Array.from(
    { length: CATALOGUE - SERVICES },
    (_, index) => `Service ${SERVICES + index} of a catalogue,${index + 1}.25,10,10000`,
  );
  const catalogue = join(folder, "more.csv");
  writeFileSync(catalogue, `name,price,min,max\n${rows.join("\n")}\n`);
  await runToEnd([BINARY, "admin", "service", "import", catalogue, "--data", folder]);
  return serve(folder, keys, env, () => removeFolder(folder));
}

async function shotsOf(
  work: string,
  api: string,
  running: Running,
  resellers: number,
): Promise<Shot[]> {
  const keys = running.keys.slice(0, resellers);
  const isPanel = api === panels2.name;
  if (work === ADD) {
    if (!isPanel) return placeOrders(running, resellers);
    const fields = { action: "add", service: "1", link: "https://example.com/me", quantity: "100" };
    return checked(
      running,
      keys.map((key) => form(key, fields)),
      '{"order":',
    );
  }
  if (work === LIST) {
    if (!isPanel) return read("/services", running, resellers);
    return checked(
      running,
      keys.map((key) => form(key, { action: "services" })),
      '[{"service":',
    );
  }
  const shots: Shot[] = [];
  for (const key of keys) {
    const ids = await place(running, key);
    if (isPanel) shots.push(form(key, { action: "status", orders: ids.join(",") }));
    else shots.push({ method: "GET", path: `/orders?ids=${ids.join(",")}`, key });
  }
  return isPanel ? checked(running, shots, '"status":"In progress"') : shots;
}

function form(key: string, fields: Record<string, string>): Shot {
  const body = new URLSearchParams({ key, ...fields }).toString();
  return { method: "POST", root: "/api/v2", path: "", key, body, isForm: true };
}

/** A refusal has status 200 too: one response is read before the load. */
async function checked(running: Running, shots: Shot[], wanted: string): Promise<Shot[]> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const url = `${running.url}/api/v2`;
  const text = await (await fetch(url, { method: "POST", body: shots[0]!.body!, headers })).text();
  if (!text.includes(wanted)) throw new Error(`/api/v2 says ${text.slice(0, 200)}`);
  return shots;
}

/** The numbers of new orders of one reseller. */
async function place(running: Running, key: string): Promise<number[]> {
  const [{ body }] = placeOrders({ ...running, keys: [key] }, 1) as [Shot];
  const response = await fetch(`${running.url}/api/v1/orders/batch`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({
      orders: Array.from({ length: ORDERS }, () => JSON.parse(body!) as object),
    }),
  });
  const { results } = (await response.json()) as { results: { order: { orderId: number } }[] };
  return results.map(({ order }) => order.orderId);
}
