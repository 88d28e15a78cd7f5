// The operator's panel on a million orders: how long each page takes, and what orders keep of their rate while someone
// clicks through.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Options } from "../options.ts";
import { databaseOf } from "../subjects/grown.ts";
import { BINARY, reseller, serve } from "../subjects/reseller.ts";
import { placeOrders, RESELLERS } from "../subjects/subject.ts";
import { runToEnd } from "../tools/children.ts";
import { load } from "../tools/load.ts";
import { threadMicroseconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";

const ORDERS = 1_000_000;
const CONNECTIONS = 32;
const TIMES = 20;
/** Between two clicks of someone who is quick. */
const CLICK_MS = 1000;
const PASSWORD = "correct horse battery";
export const ALONE = "orders, nobody in the panel";
export const CLICKED = "orders, someone clicks once a second";

export const PAGES = [
  "/",
  "/orders",
  "/orders?status=PROCESSING",
  "/orders?user=reseller1",
  "/orders?service=service-1",
  "/orders?link=nothing",
  "/orders?ids=1+500000",
  "/orders/500000",
  "/users",
  "/users/reseller1",
  "/users/reseller1/transactions",
  "/services",
  "/providers",
  "/reports",
  "/reports?by=service&from=2000-01-01",
  "/reports?by=reseller&from=2000-01-01",
  "/reports?by=provider&from=2000-01-01",
  "/audit",
] as const;

export async function panel(options: Options, results: Results): Promise<void> {
  const { folder, keys } = await databaseOf(ORDERS, options.cache);
  const port = freePort();
  const running = await serve(folder, keys, undefined, undefined, BINARY, [
    "--panel-listen",
    `127.0.0.1:${port}`,
  ]);
  const url = `http://127.0.0.1:${port}`;
  const cookie = await signIn(url, folder);
  const ask = (path: string) => timed(url + path, cookie);
  await counted(url, cookie);
  await totalled(folder);
  for (const path of PAGES) {
    const times: number[] = [];
    await ask(path);
    const before = mainMicroseconds(running.pids[0]!);
    for (let time = 0; time < TIMES; time++) times.push(await ask(path));
    const taken = (mainMicroseconds(running.pids[0]!) - before) / TIMES;
    results.add("panel", `GET ${path}`, reseller.name, "main µs", taken);
    for (const time of times) results.add("panel", `GET ${path}`, reseller.name, "ms", time);
    results.add("panel", `GET ${path}`, reseller.name, "most ms", Math.max(...times));
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const what of round % 2 === 0 ? [ALONE, CLICKED] : [CLICKED, ALONE]) {
      const stop = what === CLICKED ? clickThrough(ask) : async () => {};
      const { perSecond } = await load(running.url, {
        shots: placeOrders(running, RESELLERS),
        connections: CONNECTIONS,
        seconds: options.seconds,
      });
      await stop();
      results.add("panel", what, reseller.name, "per second", perSecond);
      say(`${what}: ${Math.round(perSecond)}/s`);
    }
  }
  await running.stop();
}

/** The processor's time of the thread that answers. */
function mainMicroseconds(pid: number): number {
  return threadMicroseconds(pid)["main"]!;
}

function freePort(): number {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  taken.stop(true);
  return taken.port;
}

/** Milliseconds until the whole page is there. */
async function timed(url: string, cookie: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(url, { headers: { cookie }, redirect: "manual" });
  await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  return performance.now() - started;
}

/** One page after the other. */
function clickThrough(ask: (path: string) => Promise<number>): () => Promise<void> {
  let isOver = false;
  const clicking = (async () => {
    for (let at = 0; !isOver; at++) {
      await ask(PAGES[at % PAGES.length]!);
      await Bun.sleep(CLICK_MS);
    }
  })();
  return async () => {
    isOver = true;
    await clicking;
  };
}

/** Returns the cookie of a new owner's session. */
async function signIn(url: string, folder: string): Promise<string> {
  // The database may be that of an earlier run.
  const name = `bench-${Date.now()}`;
  const words = ["panel", "invite", name, "--role", "owner", "--data", folder];
  const printed = await runToEnd([BINARY, ...words]);
  const [token] = /(?<=#)\S+/.exec(printed) ?? [];
  const response = await fetch(`${url}/setup`, {
    method: "POST",
    headers: { origin: url },
    body: new URLSearchParams({ token: token!, password: PASSWORD }),
    redirect: "manual",
  });
  const cookie = response.headers.getSetCookie().find((each) => each.includes("reseller="));
  if (!cookie) throw new Error(`no session: ${response.status}`);
  return cookie.split(";")[0]!;
}

/** Waits until the totals of reports are counted, which happens once after an upgrade. */
async function totalled(folder: string): Promise<void> {
  const started = performance.now();
  const database = new Database(join(folder, "reseller.db"), { readonly: true });
  const left = database.query<{ rows: number }, []>(
    "SELECT (SELECT max(seq) FROM transfers) - transfers AS rows FROM totals_position",
  );
  while (left.get()!.rows > 0) await Bun.sleep(50);
  database.close();
  say(`the totals of reports were counted in ${Math.round(performance.now() - started)} ms`);
}

/** Waits until the orders of the month are counted, which happens once after a start. */
async function counted(url: string, cookie: string): Promise<void> {
  const started = performance.now();
  for (;;) {
    const response = await fetch(url, { headers: { cookie } });
    if (!(await response.text()).includes("being counted")) break;
    await Bun.sleep(50);
  }
  say(`the orders of the month were counted in ${Math.round(performance.now() - started)} ms`);
}
