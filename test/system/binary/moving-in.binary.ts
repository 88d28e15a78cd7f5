// Moving in from another panel with the binary: killed and repeated, it has the effect of one whole import; then the
// customers' programs go on with their keys and numbers.

import { Database } from "bun:sqlite";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TABLES } from "../../../src/db/tables/tables.ts";
import {
  binary,
  binaryJson,
  binaryWith,
  type Serving,
  serving,
  stop,
} from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { runs } from "../../support/runs.ts";
import { OLD_PANEL_MAP, oldKeyOf, writeOldPanelDump } from "../../support/seeds/old-panel.ts";
import { until } from "../../support/until.ts";
import { compileShim } from "../powercut/shim.ts";

const KILLS = runs(3, 10);
/** After how many syncs of files it is killed: the first of them are those of the start, and one follows each batch. */
const SYNCS = { least: 5, below: 13 };

const size = { users: 400, services: 100, orders: 30_000, openEvery: 20 };

const upstreamUrl = "http://127.0.0.1:1/";

/** A data directory with the provider of the other panel, and nothing else. */
async function emptyDirectory(url: string): Promise<string> {
  const folder = freshFolder();
  await stop(await serving(folder, "serve"));
  const create = [
    "admin",
    "provider",
    "create",
    "upstream",
    "--url",
    url,
    "--key-stdin",
    "--no-check",
  ];
  const child = Bun.spawn(
    [new URL("../../../dist/reseller", import.meta.url).pathname, ...create],
    {
      cwd: folder,
      stdin: new Blob([PROVIDER_KEY]),
      stdout: "ignore",
    },
  );
  expect(await child.exited).toBe(0);
  return folder;
}

function importOf(dump: string): string[] {
  const map = join(freshFolder(), "map.toml");
  writeFileSync(map, OLD_PANEL_MAP);
  return [
    "admin",
    "import",
    "panel",
    "--format",
    "smartpanel",
    "--dump",
    dump,
    "--map",
    map,
    "--yes",
  ];
}

/** All rows but times, ids that are random, and the log of who did it: a hash for each table. */
function contents(folder: string): Record<string, string> {
  const sqlite = new Database(join(folder, "data/reseller.db"), { readonly: true });
  const VOLATILE = /^(id|at|created_at|started_at|finished_at|polled_at|changed_at|next_poll_at)$/;
  const hashes: Record<string, string> = {};
  for (const { name, columns } of TABLES) {
    if (["audit", "uptime", "service_changes"].includes(name)) continue;
    const stable = columns
      .filter((column) => !VOLATILE.test(column.name))
      .map((column) => column.name);
    // Times of orders come from the other panel.
    if (name === "orders" || name === "past_orders") stable.push("created_at");
    const rows = sqlite
      .query(`SELECT ${["1", ...stable].join()} FROM ${name} ORDER BY ${["1", ...stable].join()}`)
      .values();
    hashes[name] = `${rows.length} ${Bun.hash(JSON.stringify(rows))}`;
  }
  sqlite.close();
  return hashes;
}

test("killed between its batches again and again and repeated, an import has the effect of one that was not", async () => {
  const dump = writeOldPanelDump(freshFolder(), size);
  const whole = await emptyDirectory(upstreamUrl);
  const killed = freshFolder();
  cpSync(whole, killed, { recursive: true });
  const command = importOf(dump);
  const report = await binaryJson(whole, ...command);
  expect(report).toMatchObject({ orders: { new: size.orders }, refused: 0 });
  const shim = await compileShim();
  const random = randomFrom(36);
  for (let kills = 0; kills < KILLS; kills += 1) {
    const kill = SYNCS.least + below(random, SYNCS.below - SYNCS.least);
    const { code, stderr } = await binaryWith(
      shim.environment(killed, { kill }),
      killed,
      ...command,
    );
    expect([code, stderr]).toEqual([137, ""]);
  }
  const before = await binaryJson(killed, "admin", "import", "show");
  expect(before.finishedAt).toBeNull();
  const last = await binaryJson(killed, ...command);
  // The kills were in the middle of it.
  expect(last.orders.new).toBeGreaterThan(0);
  expect(last.orders.same).toBeGreaterThan(0);
  expect(contents(killed)).toEqual(contents(whole));
  for (const folder of [killed, whole]) {
    expect(await binaryJson(folder, "verify")).toMatchObject({ ok: true, orders: 1500 });
  }
  expect(await binaryJson(killed, ...command)).toMatchObject({
    users: { new: 0, same: size.users },
    orders: { new: 0, same: size.orders },
  });
  expect(contents(killed)).toEqual(contents(whole));
});

const SMALL = { users: 4, services: 3, orders: 40, openEvery: 10 };
/** The customer whose program is tried: it has past and open orders. */
const CUSTOMER = 3;

let upstream: Upstream;
let folder: string;
let server: Serving;

beforeAll(async () => {
  upstream = await startUpstream();
  folder = await emptyDirectory(upstream.url);
  const report = await binaryJson(folder, ...importOf(writeOldPanelDump(freshFolder(), SMALL)));
  expect(report).toMatchObject({ openAtProviders: 4, pastOrders: 36, refused: 0 });
  for (let number = 10; number <= 40; number += 10) {
    const status = { status: "In progress", start_count: "7", remains: "9", charge: "0.1" };
    upstream.book.set(String(7_000_000 + number), { form: {}, status });
  }
  server = await serving(folder, "serve", "--poll-interval", "100ms");
});

afterAll(async () => {
  await stop(server);
  await upstream.stop();
});

/** What the class that panels hand out gets for each call. */
async function php(key: string, calls: unknown[][]): Promise<unknown[]> {
  const script = new URL("../../support/peers/panel-client.php", import.meta.url).pathname;
  const lines = [key, ...calls.map((call) => JSON.stringify(call))].join("\n");
  const child = Bun.spawn(["php", script, `${server.url}/api/v2`], {
    stdin: new Blob([`${lines}\n`]),
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

test("the class that panels hand out goes on with an imported key, services, and past and open orders", async () => {
  const key = oldKeyOf(CUSTOMER);
  const sqlite = new Database(join(folder, "data/reseller.db"), { readonly: true });
  const username = `reseller${CUSTOMER}@example.com`;
  const numbersIn = (table: string) =>
    sqlite
      .query(
        `SELECT order_id FROM ${table} JOIN users ON account = reseller_account WHERE username = ? ORDER BY order_id`,
      )
      .values(username)
      .flat() as number[];
  const [past, open] = [numbersIn("past_orders"), numbersIn("orders")];
  const foreign = sqlite
    .query(
      "SELECT order_id FROM past_orders JOIN users ON account = reseller_account WHERE username <> ?",
    )
    .values(username)
    .flat() as number[];
  sqlite.close();
  expect(past.length).toBeGreaterThan(0);
  expect(open.length).toBeGreaterThan(0);
  const [services, statuses, one, cancelled, refilled, ordered] = await php(key, [
    ["services"],
    ["multiStatus", [past[0], open[0], foreign[0], 999_999]],
    ["status", past[0]],
    ["cancel", [past[0]]],
    ["refill", past[0]],
    ["order", { service: 2, link: "https://example.com/new", quantity: 100 }],
  ]);
  expect((services as { service: number }[]).map(({ service }) => service)).toEqual([1, 2, 3]);
  expect(statuses).toEqual({
    [past[0]!]: expect.objectContaining({ currency: "USD", start_count: expect.any(String) }),
    [open[0]!]: expect.objectContaining({ status: "In progress" }),
    [foreign[0]!]: { error: "Incorrect order ID" },
    "999999": { error: "Incorrect order ID" },
  });
  expect(one).toEqual((statuses as Record<number, unknown>)[past[0]!]);
  expect(cancelled).toEqual([{ order: past[0], cancel: { error: "Order cannot be cancelled" } }]);
  expect(refilled).toEqual({ error: "Order cannot be refilled" });
  // New numbers are above the old ones.
  expect(ordered).toEqual({ order: SMALL.orders + 1 });
  // An open order ends here, and its refund is what the other panel charged.
  const balance = async () =>
    Number(((await php(key, [["balance"]]))[0] as { balance: string }).balance);
  const before = await balance();
  const { charge } = (statuses as Record<number, { charge: string }>)[open[0]!]!;
  upstream.book.get(String(7_000_000 + open[0]!))!.status = { status: "Canceled", remains: "9" };
  await until(async () => {
    const [status] = await php(key, [["status", open[0]]]);
    return (status as { status: string }).status === "Canceled";
  });
  expect((await balance()) - before).toBeCloseTo(Number(charge), 6);
  const read = await fetch(`${server.url}/api/v1/orders/${past[0]}`, {
    headers: { "x-api-key": key },
  });
  expect(await read.json()).toMatchObject({ status: "success", order: { orderId: past[0] } });
  expect(await binaryJson(folder, "verify")).toMatchObject({ ok: true });
});

test("no imported key is in the log, wherever it was sent, nor in the database", async () => {
  const key = oldKeyOf(1);
  const ask = (headers: Record<string, string>, query = "") =>
    fetch(`${server.url}/api/v2${query}`, {
      method: "POST",
      headers,
      body: `key=${key}&action=balance`,
    });
  await ask({ "x-request-id": key });
  await ask({}, `?key=${key}`);
  await fetch(`${server.url}/api/v1/balance`, {
    headers: { "x-api-key": key, "x-request-id": key },
  });
  await fetch(`${server.url}/api/v1/balance`, {
    headers: { "x-api-key": `${key}0`, "x-request-id": `${key}0` },
  });
  await binary(folder, "admin", "key", "list", "--imported");
  expect(server.stderr()).not.toContain(key);
  const child = Bun.spawn(
    ["grep", "-c", key, join(folder, "data/reseller.db"), join(folder, "data/reseller.db-wal")],
    {
      stdout: "pipe",
    },
  );
  expect(await new Response(child.stdout).text()).not.toMatch(/:[1-9]/);
});

test("an import is refused while a server runs, and a dry run is not", async () => {
  const command = importOf(writeOldPanelDump(freshFolder(), SMALL));
  const refused = await binary(folder, ...command);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("another server uses"),
  ]);
  expect(await binaryJson(folder, ...command, "--dry-run")).toMatchObject({ orders: { same: 40 } });
});
