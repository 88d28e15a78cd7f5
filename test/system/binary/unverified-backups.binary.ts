// Nothing that a reseller does ends backups: what once did, and what becomes of the backups of a database in which a row looks wrong.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { binary, binaryJson, BINARY, serving, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

let first: Upstream;
let second: Upstream;
beforeAll(async () => ([first, second] = [await startUpstream(), await startUpstream()]));
afterAll(async () => {
  for (const each of [first, second]) await each.stop();
});

const words = (line: string) => line.split(" ");

/** Runs SQL on a database that may be in use. */
function change(folder: string, sql: string): void {
  const sqlite = new Database(join(folder, "data", "reseller.db"));
  sqlite.run("PRAGMA busy_timeout = 5000");
  sqlite.run(sql);
  sqlite.close();
}

test("an order cancelled just before its first provider refuses it leaves a database that verifies, backs up and restores", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--place-wait", "0s");
  for (const [name, { url }] of [
    ["first", first],
    ["second", second],
  ] as const) {
    const create = words(`admin provider create ${name} --url ${url} --key-stdin --no-check`);
    const child = Bun.spawnSync([BINARY, ...create], {
      cwd: folder,
      stdin: Buffer.from(`${PROVIDER_KEY}\n`),
      env: { HOME: folder },
    });
    expect(child.exitCode).toBe(0);
  }
  await binaryJson(
    folder,
    ...words("admin service create --id p --name P --price 1 --min 1 --max 1000 --cancel"),
    ...words("--provider first --provider-service 5"),
  );
  await binaryJson(
    folder,
    ...words("admin service route p add --provider second --provider-service 6"),
  );
  const { promise: refusal, resolve: refuse } = Promise.withResolvers<void>();
  first.holds("add", refusal);
  first.always("add", json({ error: "no" }));
  const call = (path: string, body?: object) => callApi(server.url, "POST", path, key, body);
  const placed = await call("/orders", { service: "p", link: "x", quantity: 100 });
  expect(placed.body.order.status).toBe("PENDING");
  await until(() => first.adds().length === 1);
  const { orderId } = placed.body.order;
  const asked = await call(`/orders/${orderId}/cancel`);
  expect(asked.body.request.state).toBe("requested");
  refuse();
  const order = () => binaryJson(folder, "admin", "order", "show", String(orderId));
  await until(async () => (await order()).status === "CANCELLED");
  expect(await order()).toMatchObject({ placement: "queued", provider: "second", refunded: 0.1 });
  const file = join(folder, "copy.db");
  expect((await binary(folder, "verify")).code).toBe(0);
  expect((await binary(folder, "backup", file)).code).toBe(0);
  expect(second.adds()).toEqual([]);
  await stop(server);
  expect((await binary(folder, "restore", file)).code).toBe(0);
});

test("while a row looks wrong the server goes on making backups, says so everywhere, and never removes the last one that is verified", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder, "--backup-every", "0");
  await stop(server);
  const flags = [
    "--backup-every",
    "300ms",
    "--backup-keep",
    "2",
    "--metrics-listen",
    "127.0.0.1:0",
  ];
  const serve = await serving(folder, "serve", ...flags);
  const backups = () =>
    readdirSync(join(folder, "data", "backups")).filter((name) => name.endsWith(".db"));
  const isMarked = (name: string) => name.endsWith(".unverified.db");
  await until(() => serve.stderr().includes('"msg":"backup made"'));
  change(folder, "UPDATE users SET deposited_micros = deposited_micros + 1");
  const count = () => serve.stderr().split("backup made, but it failed verification").length - 1;
  await until(() => count() >= 4);
  await until(() => backups().length === 3);
  expect(backups().filter((name) => !isMarked(name)).length).toBe(1);
  expect(serve.stderr()).toContain("deposits are");
  const url = /"metrics":"(http[^"]+)"/.exec(serve.stderr())![1]!;
  const metric = async (name: string) =>
    Number(
      (await (await fetch(url)).text())
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length),
    );
  expect(await metric("reseller_backup_verified")).toBe(0);
  expect(await metric("reseller_backup_age_seconds")).toBeGreaterThan(0.9);
  const { findings } = JSON.parse((await binary(folder, "doctor", "--json")).stdout);
  const last = findings.find(({ check }: { check: string }) => check === "last backup");
  expect(last).toMatchObject({ state: "fail", found: expect.stringContaining("not verified") });
  await until(async () => (await metric('reseller_alerts{kind="backup_unverified"}')) === 1);

  change(folder, "UPDATE users SET deposited_micros = deposited_micros - 1");
  await until(() => backups().length === 2 && !backups().some(isMarked));
  expect(await metric("reseller_backup_verified")).toBe(1);
  await stop(serve);
});
