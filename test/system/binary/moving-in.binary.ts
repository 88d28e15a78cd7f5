// Moving in from another panel with the binary: killed and repeated, it has the effect of one whole import; then the
// customers' programs go on with their keys and numbers.

import { Database } from "bun:sqlite";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { random } from "../../../src/web/server/random.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import {
  binary,
  binaryJson,
  binaryWith,
  type Serving,
  serving,
  stop,
} from "../../support/binary.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { runs } from "../../support/runs.ts";
import { OLD_PANEL_MAP, oldKeyOf, writeOldPanelDump } from "../../support/seeds/old-panel.ts";
import { until } from "../../support/until.ts";
import { hiddenFields, PASSWORD_HASH } from "../../support/worlds/panel.ts";
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

/** What tells when and by whom something was done, and how often. */
const UNCOMPARED = [
  "audit", "uptime", "service_changes", "panel_sessions", "known_networks", "confirmations", "totals_position",
  "administrators", "money_totals", "daily_totals",
]; // prettier-ignore

/** All rows but times, ids that are random, and the log of who did it: a hash for each table. */
function contents(folder: string): Record<string, string> {
  const sqlite = new Database(join(folder, "data/reseller.db"), { readonly: true });
  const VOLATILE = /^(id|at|created_at|started_at|finished_at|polled_at|changed_at|next_poll_at)$/;
  const hashes: Record<string, string> = {};
  for (const { name, columns } of TABLES) {
    if (UNCOMPARED.includes(name)) continue;
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

test("an import by a command runs beside a server, which goes on", async () => {
  const same = importOf(writeOldPanelDump(freshFolder(), SMALL));
  expect(await binaryJson(folder, ...same)).toMatchObject({ orders: { new: 0, same: 40 } });
  const users = join(freshFolder(), "users.csv");
  writeFileSync(users, "id,username,balance\n99,newcomer,1\n");
  const more = ["admin", "import", "panel", "--users", users];
  expect(await binaryJson(folder, ...more)).toMatchObject({ users: { new: 1 }, refused: 0 });
  const ordered = await php(oldKeyOf(CUSTOMER), [
    ["order", { service: 2, link: "https://example.com/newer", quantity: 100 }],
  ]);
  expect(ordered).toEqual([{ order: SMALL.orders + 2 }]);
});

/** The files below a folder, each with its size. */
function filesIn(data: string): string[] {
  return readdirSync(data).filter((name) => !/^(reseller\.db|instance\.|.*\.address)/.test(name));
}

/** A server with a panel, and an owner who is signed in. */
async function panelOf(folder: string) {
  const database = freshDatabase(join(folder, "data"));
  const [id, secret] = [random(16), random(32)];
  database.run("openSession", {
    site: "panel",
    attempt: null,
    person: "boss",
    passwordHash: PASSWORD_HASH,
    session: { id, hash: hashSecret(secret), address: "127.0.0.1", userAgent: "test" },
    hasProvedCode: true,
  });
  database.close();
  const running = await serving(folder, "serve", "--panel-listen", "127.0.0.1:0");
  const url = readFileSync(join(folder, "data/panel.address"), "utf8");
  const headers = { cookie: `reseller=${id}.${secret}`, origin: url };
  const page = async () => (await fetch(`${url}/moving-in`, { headers })).text();
  const post = async (path: string, body: BodyInit) =>
    (
      await fetch(`${url}/moving-in/${path}`, { method: "POST", headers, body, redirect: "manual" })
    ).text();
  return {
    running,
    page,
    post,
    ended: () => until(async () => !(await page()).includes("is running</h2>")),
    async start() {
      const asked = hiddenFields(await post("start", new URLSearchParams()));
      await post("start", new URLSearchParams(asked));
    },
  };
}

test("a server that is killed in the middle of the panel's import leaves no file, and the same import completes it", async () => {
  const dump = writeOldPanelDump(freshFolder(), { ...size, orders: 5000 });
  const [whole, killed] = [await emptyDirectory(upstreamUrl), freshFolder()];
  const owner = freshDatabase(join(whole, "data"));
  const invitationHash = hashSecret("boss");
  owner.run("inviteAdministrator", { name: "boss", role: "owner", invitationHash });
  owner.run("acceptInvitation", { site: "panel", invitationHash, passwordHash: PASSWORD_HASH });
  owner.close();
  cpSync(whole, killed, { recursive: true });
  /** Does everything up to the start of the import. */
  const startIn = async (folder: string) => {
    const panel = await panelOf(folder);
    const form = new FormData();
    form.set("dump", new Blob([readFileSync(dump)]), "dump.sql");
    form.set("map", new Blob([OLD_PANEL_MAP]), "map.toml");
    await panel.post("files", form);
    const plan = { format: "smartpanel", mapping: OLD_PANEL_MAP };
    await panel.post("plan", new URLSearchParams(plan));
    await panel.ended();
    // One that was killed counts as running for a while.
    const sqlite = new Database(join(folder, "data/reseller.db"));
    sqlite.run("UPDATE panel_import SET run_until = 0 WHERE run_id IS NOT NULL");
    sqlite.close();
    await panel.start();
    return panel;
  };
  const complete = async (folder: string) => {
    const { running, page, ended } = await startIn(folder);
    await ended();
    expect(await page()).toContain("What was imported");
    expect(filesIn(join(folder, "data"))).toEqual([]);
    await stop(running);
  };
  await complete(whole);
  const seeded = randomFrom(37);
  for (let kills = 0; kills < KILLS; kills += 1) {
    const { running } = await startIn(killed);
    const rows = 400 + below(seeded, 300) + kills * 400;
    await until(() => countRows(killed) >= rows);
    running.kill("SIGKILL");
    await running.ended;
    expect(filesIn(join(killed, "data"))).toEqual([]);
  }
  await complete(killed);
  expect(contents(killed)).toEqual(contents(whole));
  expect(await binaryJson(killed, "verify")).toMatchObject({ ok: true });
}, 600_000);

function countRows(folder: string): number {
  const sqlite = new Database(join(folder, "data/reseller.db"), { readonly: true });
  const [[rows]] = sqlite
    .query("SELECT (SELECT count(*) FROM imported_users) + (SELECT count(*) FROM past_orders)")
    .values() as [[number]];
  sqlite.close();
  return rows;
}
