// The binary on a disk that is full, that fails, beside busy commands, and under a clock that jumps.
// Shows docs/specification/README.md#guarantee-full-disk, docs/specification/README.md#guarantee-damage.

import { Database } from "bun:sqlite";
import { afterEach, beforeAll, expect, test } from "bun:test";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileShim, type Shim } from "../powercut/shim.ts";
import { type ServerProcess, binary, startServerProcess } from "../../support/binary.ts";
import { randomFrom } from "../../support/random/seeded.ts";
import { callApi } from "../../support/http/api.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import {
  prepareLoad,
  problemsOf,
  send,
  sendLoad,
  type Wish,
  wishFor,
} from "../../support/random/wishes.ts";
import { until } from "../../support/until.ts";

/** No end of calls. */
const ALL = 1_000_000_000;

let shim: Shim;
let prepared: string;
let key: string;
const SERVERS: ServerProcess[] = [];

beforeAll(async () => {
  shim = await compileShim();
  prepared = freshFolder();
  const database = freshDatabase(prepared);
  key = prepareLoad(database);
  database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.connection.sqlite.close();
});
afterEach(async () => {
  for (const server of SERVERS.splice(0)) await server.kill();
});

/** A server whose disk has that fault as long as the file `gate` is there. */
async function faulty(kind: string) {
  const folder = freshFolder();
  const gate = join(freshFolder(), "gate");
  cpSync(prepared, folder, { recursive: true });
  const environment = shim.environment(folder, { fault: `${kind}:1:${ALL}`, gate });
  const server = await startServerProcess({ data: folder, environment });
  SERVERS.push(server);
  return { folder, gate, server };
}

function load(server: ServerProcess, first: number, more: (sent: number) => boolean) {
  return sendLoad(server.url, key, { first, connections: 8, random: randomFrom(first), more });
}

async function readiness(server: ServerProcess): Promise<number> {
  return (await fetch(`${server.url}/readyz`)).status;
}

test("whichever call of its start the disk fails, serve listens or ends with exit 1", async () => {
  let ended = 0;
  for (let call = 1; call < 90; call += 3) {
    const folder = freshFolder();
    cpSync(prepared, folder, { recursive: true });
    const environment = shim.environment(folder, { fault: `EIO:${call}:1` });
    try {
      SERVERS.push(await startServerProcess({ data: folder, environment }));
    } catch (error) {
      ended += 1;
      expect([call, String(error)]).toEqual([call, expect.stringContaining("(exit 1)")]);
    }
  }
  expect(ended).toBeGreaterThan(10);
});

test("a full disk: 503 and not ready, reads go on, and room brings it back without a restart", async () => {
  const { folder, gate, server } = await faulty("ENOSPC");
  const wishes = await load(server, 0, (sent) => sent < 40);
  expect(wishes.every(({ answer }) => answer?.status === 200)).toBe(true);
  expect(await readiness(server)).toBe(200);
  writeFileSync(gate, "");
  const refused = await load(server, 40, (sent) => sent < 40);
  for (const { answer } of refused) {
    expect([answer?.status, answer?.headers.get("retry-after")]).toEqual([503, "1"]);
  }
  expect(await readiness(server)).toBe(503);
  expect((await callApi(server.url, "GET", "/balance", key)).status).toBe(200);
  expect((await callApi(server.url, "GET", "/orders/1", key)).status).toBe(200);
  await until(() => server.log().includes("does not accept writes"));
  expect(await problemsOf(folder, [...wishes, ...refused])).toEqual([]);
  rmSync(gate);
  await until(async () => (await readiness(server)) === 200);
  for (const wish of refused) await send(server.url, key, wish);
  expect(refused.every(({ answer }) => answer?.status === 200)).toBe(true);
  expect(await problemsOf(folder, [...wishes, ...refused])).toEqual([]);
  expect(await server.stop()).toBe(0);
});

test("a disk that fails: it says so and ends with an error, and nothing acknowledged is lost", async () => {
  const { folder, gate, server } = await faulty("EIO");
  const wishes = await load(server, 0, (sent) => sent < 40);
  writeFileSync(gate, "");
  const unlucky = wishFor(40);
  await send(server.url, key, unlucky);
  expect(unlucky.answer?.status).not.toBe(200);
  expect(await server.exited).toBe(1);
  await until(() => /can no longer be (read|written)/.test(server.log()));
  const again = await startServerProcess({ data: folder });
  await send(again.url, key, unlucky);
  expect(unlucky.answer?.status).toBe(200);
  expect(await again.stop()).toBe(0);
  expect(await problemsOf(folder, [...wishes, unlucky])).toEqual([]);
});

test("a second serve on the same data is refused, and the first goes on", async () => {
  const folder = freshFolder();
  cpSync(prepared, folder, { recursive: true });
  const first = await startServerProcess({ data: folder });
  SERVERS.push(first);
  const { code, stderr } = await binary(folder, "serve", "--data", folder, "--port", "0");
  expect([code, stderr]).toEqual([1, expect.stringContaining("another server uses")]);
  const wish = wishFor(0);
  await send(first.url, key, wish);
  expect(wish.answer?.status).toBe(200);
});

test("commands in a loop beside a loaded server: neither fails", async () => {
  const folder = freshFolder();
  cpSync(prepared, folder, { recursive: true });
  const server = await startServerProcess({ data: folder, arguments: ["--log-level", "warn"] });
  SERVERS.push(server);
  let working = true;
  const loading = load(server, 0, () => working);
  const commands = [
    "admin user credit loaded 0.5 --note loop",
    "admin user debit loaded 0.5",
    "admin order list --limit 5",
    "verify",
    "admin key list",
  ];
  const failures: string[] = [];
  for (let round = 0; round < 6; round++) {
    for (const command of commands) {
      const { code, stderr } = await binary(folder, ...command.split(" "), "--data", folder);
      if (code !== 0) failures.push(`${command}: ${stderr}`);
    }
  }
  working = false;
  const wishes = await loading;
  expect(failures).toEqual([]);
  expect(wishes.filter(({ answer }) => answer?.status !== 200)).toEqual([]);
  expect(await problemsOf(folder, wishes)).toEqual([]);
});

test("a clock that is corrected by six years while the service runs makes no retry a second order", async () => {
  const folder = freshFolder();
  cpSync(prepared, folder, { recursive: true });
  const gate = join(freshFolder(), "gate");
  writeFileSync(gate, "");
  const environment = shim.environment(folder, { clockSeconds: -6 * 365 * 86_400, gate });
  const server = await startServerProcess({ data: folder, environment });
  SERVERS.push(server);
  const wishes = await load(server, 0, (sent) => sent < 20);
  const given = wishes.map(({ answer }) => answer!.text);
  expect(wishes.every(({ answer }) => answer?.status === 200)).toBe(true);
  rmSync(gate);
  // The minute in which the service looks after its used keys.
  const database = new Database(join(folder, "reseller.db"), { readonly: true });
  const uptime = database.query<{ milliseconds: number }, []>("SELECT milliseconds FROM uptime");
  while (uptime.get()!.milliseconds === 0) await Bun.sleep(100);
  database.close();
  expect(await server.stop()).toBe(0);
  const again = await startServerProcess({ data: folder });
  SERVERS.push(again);
  for (const wish of wishes) await send(again.url, key, wish);
  expect(wishes.map(({ answer }) => answer!.text)).toEqual(given);
  expect(await problemsOf(folder, wishes)).toEqual([]);
});

test("a clock that jumps a day either way changes no order, no amount and no retry", async () => {
  const folder = freshFolder();
  cpSync(prepared, folder, { recursive: true });
  const wishes: Wish[] = [];
  for (const days of [0, 1, -1, 0]) {
    const environment = shim.environment(folder, { clockSeconds: days * 86_400 });
    const server = await startServerProcess({ data: folder, environment });
    SERVERS.push(server);
    for (const wish of wishes) {
      const given = wish.answer!.text;
      await send(server.url, key, wish);
      expect(wish.answer!.text).toBe(given);
    }
    wishes.push(...(await load(server, wishes.length, (sent) => sent < 20)));
    expect(await server.stop()).toBe(0);
  }
  expect(wishes.every(({ answer }) => answer?.status === 200)).toBe(true);
  const told = wishes.flatMap(({ answer }) => answer!.body.order ?? []) as { createdAt: string }[];
  const days = new Set(told.map(({ createdAt }) => createdAt.slice(0, 10)));
  expect(days.size).toBe(3);
  expect(await problemsOf(folder, wishes)).toEqual([]);
});
