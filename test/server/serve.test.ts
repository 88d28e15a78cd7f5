// The server as a process: how it ends, and that it never continues after a fatal database error.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { audit } from "../support/audit.ts";
import { damageTables } from "../support/damage.ts";
import { spawnServe } from "../support/process.ts";
import { callApi, freshDatabase } from "../support/service.ts";

function shop() {
  const database = freshDatabase();
  database.user("anna", "1000");
  const order = { service: database.service(), link: "x", quantity: 100 };
  const { text } = database.key("anna", "full");
  return { database, order, key: text };
}

test("SIGTERM completes requests in flight, checkpoints, releases the data directory and exits 0", async () => {
  const { database, order, key } = shop();
  const serve = await spawnServe(database.folder);
  const first = await callApi(serve.url, "POST", "/orders", key, order);
  const calls = Array.from({ length: 50 }, () =>
    callApi(serve.url, "POST", "/orders", key, order).then(
      ({ status }) => status,
      () => "not taken",
    ),
  );
  const { exitCode, stderr } = await serve.stop();
  const statuses = await Promise.all(calls);
  expect([first.status, exitCode]).toEqual([200, 0]);
  const answered = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status !== 200 && status !== "not taken")).toEqual([]);
  const sqlite = database.connection.sqlite;
  expect(sqlite.query("SELECT count(*) FROM orders").values()).toEqual([[answered + 1]]);
  expect(audit(database)).toEqual({});
  expect(existsSync(join(database.folder, "serve.address"))).toBe(false);
  expect(stderr).toContain('"stopped"');
  const again = await spawnServe(database.folder);
  expect((await callApi(again.url, "GET", "/orders/1", key)).status).toBe(200);
  expect((await again.stop()).exitCode).toBe(0);
});

test("a second serve of one data directory exits 1 and names the database", async () => {
  const { database } = shop();
  const serve = await spawnServe(database.folder);
  const second = await spawnServe(database.folder).catch((error: Error) => error.message);
  expect(second).toContain(`another reseller serves ${database.connection.path}`);
  expect((await serve.stop()).exitCode).toBe(0);
});

test("a serve that cannot mark interrupted attempts unknown exits and releases the data directory", async () => {
  const { database } = shop();
  const { sqlite } = database.connection;
  const url = "http://127.0.0.1:1/";
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "k" });
  const service = database.service({ provider: { name: "acme", service: "7" } });
  const { id: keyId } = database.key("anna", "order");
  const resellerAccount = 3;
  const placed = { resellerAccount, keyId, service, link: "x", quantity: 100 };
  const { orderId } = database.run("placeOrder", placed);
  database.run("startAttempt", { orderId, server: "test", placeRetryMs: 1000 });
  sqlite.run(
    `CREATE TRIGGER stuck BEFORE UPDATE ON orders BEGIN SELECT RAISE(ABORT, 'stuck'); END`,
  );
  const stuck = await spawnServe(database.folder).catch((error: Error) => error.message);
  expect(stuck).toContain("stuck");
  sqlite.run("DROP TRIGGER stuck");
  const serve = await spawnServe(database.folder);
  expect(sqlite.query("SELECT placement FROM orders").values()).toEqual([["unknown"]]);
  expect((await serve.stop()).exitCode).toBe(0);
});

test("a database that can no longer be written ends the server: logged, exit 1", async () => {
  const { database, order, key } = shop();
  const { sqlite, path } = database.connection;
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
  const serve = await spawnServe(database.folder);
  damageTables(path, ["orders"]);
  const answer = await callApi(serve.url, "POST", "/orders", key, order).catch(() => null);
  expect(answer?.status ?? 500).toBe(500);
  const { exitCode, stderr } = await serve.ended();
  expect(exitCode).toBe(1);
  expect(stderr).toContain("the database cannot be written any more: stopping");
  expect(stderr).toContain(path);
});

test.each([
  ["exception", 'setTimeout(() => { throw new Error("unforeseen"); })'],
  ["rejection", 'void Promise.reject(new Error("unforeseen"))'],
])("an %s that is not caught is one JSON line, and exit 1", async (_, fault) => {
  const { database } = shop();
  const program = new URL("../../src/cli/program.ts", import.meta.url).pathname;
  const argv = ["serve", "--data", database.folder, "--port", "0"];
  const script = `
    import { run } from ${JSON.stringify(program)};
    await run(${JSON.stringify(argv)});
    ${fault};
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "pipe" });
  const text = await child.stderr.text();
  expect(await child.exited).toBe(1);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({
    level: "error",
    error: expect.stringContaining("unforeseen"),
  });
});
