// `serve` on PostgreSQL: several servers on one database, and a database that goes away and comes back.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createPostgresStore } from "../../src/db/postgres/batch/store.ts";
import { reseller } from "../support/worlds/shop.ts";
import { type Cluster, cluster, startCluster } from "../support/databases/postgres.ts";
import { type ServeProcess, spawnServe } from "../support/process.ts";
import { callApi } from "../support/http/api.ts";
import { freshFolder } from "../support/folders.ts";
import { insertKey, insertService, insertUser } from "../support/databases/stores.ts";
import { until } from "../support/until.ts";
import { freePort } from "../support/ports.ts";

interface Shop {
  url: string;
  name: string;
  /** The text of a full key. */
  key: string;
  keyId: string;
  account: number;
}

async function shopOn(server: Cluster): Promise<Shop> {
  const name = await server.createDatabase();
  const url = `postgres://postgres:s3cret@127.0.0.1:${server.port}/${name}`;
  const store = createPostgresStore(server.address(name));
  const [, made] = await store.runBatch([
    { run: (tx) => insertService(tx, "likes") },
    {
      run: (tx) => {
        const account = insertUser(tx, "anna", 1_000_000_000);
        return { account, key: insertKey(tx, account) };
      },
    },
  ]);
  await store.close();
  const { account, key } = (made as { done: { account: number; key: string } }).done;
  return { url, name, key, keyId: key, account };
}

const ORDER = { service: "likes", link: "x", quantity: 1 };
const serve = (shop: Shop, name: string, ...flags: string[]) =>
  spawnServe(freshFolder(), "--database", shop.url, "--server", name, ...flags);
const place = (server: ServeProcess, { key }: Shop, headers?: Record<string, string>) =>
  callApi(server.url, "POST", "/orders", key, ORDER, headers);
const admin = (shop: Shop, ...argv: string[]) => reseller("admin", ...argv, "--database", shop.url);

/** A port that is free at this moment: the server does not say which one its metrics got. */

describe("two servers of one database", () => {
  const metricsPort = freePort();
  let shop: Shop;
  let one: ServeProcess;
  let two: ServeProcess;
  beforeAll(async () => {
    shop = await shopOn(await cluster());
    one = await serve(shop, "one", "--metrics-listen", `127.0.0.1:${metricsPort}`);
    two = await serve(shop, "two");
  });
  afterAll(async () => {
    await Promise.all([one.stop(), two.stop()]);
  });

  test("take orders, and each reads what the other took", async () => {
    const { status, body } = await place(one, shop);
    expect(status).toBe(200);
    const { id } = body["order"] as { id: string };
    expect(await callApi(two.url, "GET", `/orders/${id}`, shop.key)).toMatchObject({ status: 200 });
    const taken = await Promise.all(
      Array.from({ length: 40 }, (_, place_) => place(place_ % 2 ? one : two, shop)),
    );
    expect(new Set(taken.map((answer) => answer.status))).toEqual(new Set([200]));
  });

  test("do a request under one Idempotency-Key once, whichever is asked", async () => {
    const headers = { "idempotency-key": "k" };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, each) => place(each % 2 ? one : two, shop, headers)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  test("are ready each, and know of each other", async () => {
    for (const { url } of [one, two]) {
      const response = await fetch(`${url}/readyz`);
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { checks: { reads: { ok: true } } },
      ]);
    }
    const server = await cluster();
    expect(await server.query(shop.name, "SELECT name FROM servers ORDER BY name")).toEqual([
      { name: "one" },
      { name: "two" },
    ]);
  });

  test("refuse a key that a command deactivates, orders at once, and take it again when it is activated", async () => {
    const statusOf = async (server: ServeProcess) =>
      (await callApi(server.url, "GET", "/balance", shop.key)).status;
    expect([await statusOf(one), await statusOf(two)]).toEqual([200, 200]);
    expect((await admin(shop, "key", "deactivate", shop.keyId)).code).toBe(0);
    // An order looks at its key in its own transaction.
    expect((await place(one, shop)).status).toBe(403);
    // After a second at most: key-finder.test.ts, where the clock is set by hand.
    while ((await statusOf(one)) !== 403 || (await statusOf(two)) !== 403);
    expect((await admin(shop, "key", "activate", shop.keyId)).code).toBe(0);
    while ((await statusOf(one)) !== 200 || (await statusOf(two)) !== 200);
  });

  test("say in their metrics which they are, how many there are, and how large the database is", async () => {
    // The first one knows of the second once it has renewed its own lease.
    const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    let metrics = await scrape();
    while (metrics.includes("reseller_servers 1\n")) metrics = await scrape();
    expect(metrics).toContain("reseller_servers 2\n");
    expect(metrics).toMatch(/^reseller_info\{version="[^"]+",server="one"\} 1$/m);
    expect(metrics).toMatch(/^reseller_database_bytes [1-9]\d+$/m);
    expect(metrics).toMatch(/^reseller_orders\{status="PROCESSING"\} [1-9]\d*$/m);
    expect(metrics).not.toMatch(/^reseller_(wal_bytes|disk_free_bytes|backup_age_seconds) /m);
  });

  test("do not start under one name", async () => {
    const refusals: string[] = [];
    await until(async () => {
      const third = await serve(shop, "two").catch((error: Error) => error.message);
      if (typeof third === "string") return refusals.push(third) > 0;
      // Where the machine stood still for seconds, the one that runs could not show in time that it does.
      await third.stop();
      return false;
    });
    expect(refusals).toEqual([
      expect.stringContaining("a server named two already runs on this database"),
    ]);
  });
});

describe("a server", () => {
  test("leaves its address for `health`, nothing else in --data, no lease behind, and no password anywhere", async () => {
    const shop = await shopOn(await cluster());
    const data = freshFolder();
    const server = await spawnServe(data, "--database", shop.url, "--server", "one");
    expect(readdirSync(data)).toEqual(["serve.address"]);
    expect(await reseller("health", "--data", data)).toMatchObject({ code: 0 });
    const { exitCode, stdout, stderr } = await server.stop();
    expect(exitCode).toBe(0);
    expect(existsSync(join(data, "serve.address"))).toBe(false);
    expect(await (await cluster()).query(shop.name, "SELECT * FROM servers")).toEqual([]);
    expect(stdout + stderr).not.toContain("s3cret");
    expect(stderr).toContain(`"postgres://127.0.0.1:${(await cluster()).port}/${shop.name}"`);
    expect(stderr).toContain("synchronous_standby_names is empty");
    expect(stderr).toContain("everyone on this machine can read the password in --database");
  });

  test("that was killed is replaced at once by one of its name", async () => {
    const shop = await shopOn(await cluster());
    const data = freshFolder();
    const killed = Bun.spawn(
      [
        "bun",
        new URL("../../src/main.ts", import.meta.url).pathname,
        "serve",
        "--port",
        "0",
      ].concat(["--data", data, "--database", shop.url, "--server", "one"]),
      { stdout: "pipe", stderr: "ignore" },
    );
    await killed.stdout.getReader().read();
    killed.kill("SIGKILL");
    await killed.exited;
    const server = await serve(shop, "one");
    expect((await place(server, shop)).status).toBe(200);
    const rows = await (await cluster()).query(shop.name, "SELECT name FROM servers");
    expect(rows).toEqual([{ name: "one" }]);
    await server.stop();
  });

  test("makes the tables of an empty database, and refuses those of a newer version", async () => {
    const postgres = await cluster();
    const name = `empty_${process.pid}`;
    await postgres.query("postgres", `CREATE DATABASE ${name}`);
    const url = `postgres://postgres@127.0.0.1:${postgres.port}/${name}`;
    const users = () => reseller("admin", "user", "list", "--database", url);
    const before = await users();
    expect([before.code, before.stderr]).toEqual([
      1,
      expect.stringContaining("to create the tables"),
    ]);
    const server = await spawnServe(freshFolder(), "--database", url);
    expect((await users()).code).toBe(0);
    await server.stop();
    await postgres.query(name, "INSERT INTO migrations VALUES (999, 'newer', '', 0)");
    const refused = await spawnServe(freshFolder(), "--database", url).catch(
      (error: Error) => error.message,
    );
    expect(refused).toContain("was written by a newer version (schema 999");
  });
});

describe("a database that goes away", () => {
  test("makes writes and reads 503 without naming it, readyz and metrics report it, and service resumes when it is back", async () => {
    const postgres = await startCluster({ fsync: "off" });
    const shop = await shopOn(postgres);
    const metrics = `127.0.0.1:${freePort()}`;
    const server = await serve(shop, "one", "--metrics-listen", metrics);
    expect((await place(server, shop)).status).toBe(200);
    postgres.stop("immediate");
    const answers = await Promise.all([
      place(server, shop),
      callApi(server.url, "GET", "/balance", shop.key),
      callApi(server.url, "GET", "/orders/1", shop.key),
    ]);
    for (const { status, body, text } of answers) {
      expect([status, body["code"]]).toEqual([503, "service_unavailable"]);
      expect(text).not.toMatch(/postgres|127\.0\.0\.1|ECONN|connection/i);
    }
    // From here on nobody waits for as long as the first did: so many would take longer than all tests may.
    for (let refused = 0; refused < 60; refused += 1) {
      expect((await place(server, shop)).status).toBe(503);
    }
    expect((await callApi(server.url, "GET", "/balance", shop.key)).status).toBe(503);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    const scraped = await fetch(`http://${metrics}/metrics`);
    expect([scraped.status, await scraped.text()]).toEqual([
      200,
      expect.stringContaining("reseller_refusals_total"),
    ]);
    postgres.start();
    while ((await fetch(`${server.url}/readyz`)).status !== 200);
    expect((await place(server, shop)).status).toBe(200);
    expect((await callApi(server.url, "GET", "/balance", shop.key)).status).toBe(200);
    const { exitCode, stderr } = await server.stop();
    expect(exitCode).toBe(0);
    expect(stderr).toContain("the database does not accept writes: writes are refused");
    expect(stderr).toContain("the database responds again");
    postgres.stop("immediate");
  });

  test("is reported by a command in one sentence, exit 1", async () => {
    const url = "postgres://postgres:s3cret@127.0.0.1:1/shop";
    const { code, stderr } = await reseller("admin", "user", "list", "--database", url);
    expect(code).toBe(1);
    expect(stderr).toStartWith(
      "error: postgres://127.0.0.1:1/shop cannot be reached: start the server",
    );
  });
});
