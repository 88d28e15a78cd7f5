// Health over the compiled binary: alive, ready or not and why, over HTTP and by `reseller health`.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { binary, binaryJson, serving, stop } from "../../support/binary.ts";
import type { Body } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const CHECKS = ["database", "writer", "disk", "migrations"];

async function ask(url: string, path: string) {
  const response = await fetch(url + path);
  const body = (await response.json()) as Body;
  return { status: response.status, headers: response.headers, body };
}

test("a server that can work is alive and ready, check by check, without a key", async () => {
  const folder = freshFolder();
  const server = await serving(folder, "serve");
  const alive = await ask(server.url, "/livez");
  expect([alive.status, alive.body]).toEqual([
    200,
    { status: "ok", checks: { process: { ok: true } } },
  ]);
  const ready = await ask(server.url, "/readyz");
  expect([ready.status, ready.body.status]).toEqual([200, "ok"]);
  expect(Object.keys(ready.body.checks)).toEqual(expect.arrayContaining(CHECKS));
  for (const check of Object.values(ready.body.checks)) expect(check).toEqual({ ok: true });
  expect(ready.headers.get("x-request-id")).toBeTruthy();
  expect(JSON.stringify(ready.body)).not.toContain(folder);
  const health = await binaryJson(folder, "health");
  expect(health).toMatchObject({ url: server.url, healthy: true });
  await stop(server);
});

test("too little room: 503 that names the disk, reads go on, `health` exits 1 and says why", async () => {
  const folder = freshFolder();
  const server = await serving(folder, "serve", "--disk-floor", "8000TiB");
  const { status, body } = await ask(server.url, "/readyz");
  expect([status, body.status, body.checks.disk.ok, body.checks.database.ok]).toEqual([
    503,
    "unavailable",
    false,
    true,
  ]);
  expect((await ask(server.url, "/livez")).status).toBe(200);
  const health = await binary(folder, "health");
  expect([health.code, health.stdout]).toEqual([1, ""]);
  expect(health.stderr).toContain("disk: less than 8000TiB free");
  await stop(server);
});

test("a database that another process holds: not ready within seconds, ready again when it lets go", async () => {
  const folder = freshFolder();
  const server = await serving(folder, "serve");
  const other = new Database(join(folder, "data", "reseller.db"));
  // Jobs of the server write meanwhile.
  other.run("PRAGMA busy_timeout = 10000");
  other.run("BEGIN IMMEDIATE");
  const held = await ask(server.url, "/readyz");
  expect([held.status, held.body.checks.writer.ok]).toEqual([503, false]);
  other.run("ROLLBACK");
  other.close();
  let status = 503;
  while (status !== 200) ({ status } = await ask(server.url, "/readyz"));
  await stop(server);
});

test("asking often writes once a second at most", async () => {
  const begun = performance.now();
  const { server, commits } = await servingCounted(freshFolder());
  const before = await commits();
  const started = performance.now();
  // After a minute jobs of the server write too.
  const isEarly = () => performance.now() - begun < 50_000;
  for (let asked = 0; asked < 300 && isEarly(); asked++) await ask(server.url, "/readyz");
  const seconds = (performance.now() - started) / 1000;
  expect((await commits()) - before).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  await stop(server);
});

async function servingCounted(folder: string) {
  const server = await serving(folder, "serve", "--metrics-listen", "127.0.0.1:0");
  await until(() => server.stderr().includes('"metrics":"http'));
  const url = /"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!;
  const commits = async () => {
    const text = await (await fetch(url)).text();
    return Number(/^reseller_commit_duration_seconds_count (\d+)/m.exec(text)![1]);
  };
  return { server, commits };
}

test("`health` exits 1 when no server responds", async () => {
  const folder = freshFolder();
  await stop(await serving(folder, "serve"));
  expect((await binary(folder, "health")).code).toBe(1);
});
