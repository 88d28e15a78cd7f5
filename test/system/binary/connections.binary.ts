// Connections to the compiled binary, byte by byte, plain and over TLS: no bytes that follow a write change its
// response, and a server that stops sends `Connection: close` with its last response.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { binaryJson, type Serving, stall, stop } from "../../support/binary.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { openRaw, type RawConnection } from "../../support/http/raw.ts";
import { freshFolder } from "../../support/folders.ts";
import { CASES, type Case, expectAnswered, type Write } from "../../support/http/trailing.ts";
import { until } from "../../support/until.ts";

const BINARY = new URL("../../../dist/reseller", import.meta.url).pathname;

/** A provider that answers each order when it is let. */
function startProvider() {
  let held = Promise.withResolvers<void>();
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = new URLSearchParams(await request.text());
      if (form.get("action") !== "add") return Response.json({ error: "Incorrect request" });
      asked++;
      await held.promise;
      return Response.json({ order: asked });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/api/v2`,
    asked: () => asked,
    release() {
      held.resolve();
      held = Promise.withResolvers();
    },
    stop: () => server.stop(true),
  };
}

interface Shop {
  folder: string;
  server: Serving;
  key: string;
  database: Database;
}

/** A server whose service `s` is delivered by hand and whose service `p` by the provider. */
async function openShop(provider: string, isTls: boolean): Promise<Shop> {
  const folder = freshFolder();
  const files = isTls ? makeCertificate(folder, "first") : null;
  const tls = files ? ["--tls-cert", files.cert, "--tls-key", files.key] : [];
  const { server } = await stall(folder, "--log-level", "warn", "--place-wait", "10m", ...tls);
  const { key } = await binaryJson(
    folder,
    ..."admin key create --user alice --type full --reach all".split(" "),
  );
  const create = `admin provider create acme --url ${provider} --key-stdin --no-check`;
  const { exitCode, stderr } = Bun.spawnSync([BINARY, ...create.split(" ")], {
    cwd: folder,
    stdin: Buffer.from("upstream-secret"),
    env: { HOME: folder },
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
  const service =
    "admin service create --id p --name P --price 1 --min 1 --max 1000 --provider acme --provider-service 5";
  await binaryJson(folder, ...service.split(" "));
  const database = new Database(join(folder, "data", "reseller.db"));
  database.run("PRAGMA busy_timeout = 600000");
  return { folder, server, key, database };
}

/** Resolves once the server has read all that was sent to it before. */
async function hasRead({ server }: Shop): Promise<void> {
  for (let calls = 0; calls < 2; calls++) {
    await (await fetch(`${server.url}/livez`, { tls: { rejectUnauthorized: false } })).text();
  }
}

function writesOf({ key, database }: Shop): Record<string, Write> {
  const ordersOf = (link: string) =>
    database.query("SELECT id FROM orders WHERE link = ?").all(link).length;
  const order = (link: string) => ({ service: "s", link, quantity: 1 });
  const amountOf = (mark: string) => Number(mark.split("-")[1]) + 1;
  return {
    "POST /orders": {
      path: "/api/v1/orders",
      key,
      body: (mark) => JSON.stringify(order(mark)),
      done: ordersOf,
    },
    "POST /orders/batch": {
      path: "/api/v1/orders/batch",
      key,
      body: (mark) => JSON.stringify({ orders: [order(mark)] }),
      done: ordersOf,
    },
    "POST /recharge": {
      path: "/api/v1/recharge",
      key,
      // An amount of its own tells it from the others.
      body: (mark) => JSON.stringify({ username: "alice", amount: amountOf(mark) }),
      done: (mark) =>
        database
          .query("SELECT seq FROM transfers WHERE kind = 'recharge' AND amount_micros = ?")
          .all(amountOf(mark) * 1e6).length,
    },
  };
}

const provider = startProvider();
afterAll(() => provider.stop());

describe.each([false, true])("whatever follows a write, TLS: %p,", (isTls) => {
  let shop: Shop;
  beforeAll(async () => (shop = await openShop(provider.url, isTls)));
  afterAll(async () => {
    shop.database.close();
    await stop(shop.server);
    // Each was charged once.
    expect((await binaryJson(shop.folder, "verify")).problems ?? []).toEqual([]);
  });

  const each = (title: string, check: (write: Write, sent: Case) => Promise<void>) =>
    test.each(["POST /orders", "POST /orders/batch", "POST /recharge"])(
      `${title}: %s`,
      async (route) => {
        for (const sent of CASES) await check(writesOf(shop)[route]!, sent);
      },
    );

  each("in the same segment, it is done and answered", (write, sent) =>
    expectAnswered(shop.server.url, write, sent),
  );

  each("before its commit, it is done and answered", async (write, sent) => {
    shop.database.run("BEGIN IMMEDIATE");
    let isHeld = true;
    const release = () => {
      if (isHeld) shop.database.run("COMMIT");
      isHeld = false;
    };
    await expectAnswered(shop.server.url, write, sent, async (sendRest) => {
      await hasRead(shop);
      sendRest();
      await hasRead(shop);
      release();
    }).finally(release);
  });

  test("while its provider is awaited, it is placed and gets its response", async () => {
    for (const sent of CASES) {
      const before = provider.asked();
      const write = writesOf(shop)["POST /orders"]!;
      const body = (link: string) => JSON.stringify({ service: "p", link, quantity: 1 });
      await expectAnswered(shop.server.url, { ...write, body }, sent, async (sendRest) => {
        await until(() => provider.asked() === before + 1);
        sendRest();
        await hasRead(shop);
        provider.release();
      });
    }
  });
});

describe("a server that is stopping", () => {
  const order = (key: string, link: string) => {
    const body = JSON.stringify({ service: "p", link, quantity: 1 });
    return [
      "POST /api/v1/orders HTTP/1.1",
      "host: x",
      `x-api-key: ${key}`,
      "content-type: application/json",
      `content-length: ${body.length}`,
      "",
      body,
    ].join("\r\n");
  };
  const read = (key: string) =>
    `GET /api/v1/balance HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`;
  const lastOf = async (connection: RawConnection) => {
    const answer = await connection.response();
    const rest = await connection.rest();
    connection.close();
    return [answer?.status, answer?.headers.get("connection"), rest];
  };

  test.each([false, true])(
    "says `Connection: close` with what it still answers, and takes no further request, TLS: %p",
    async (isTls) => {
      const shop = await openShop(provider.url, isTls);
      const { server, key } = shop;
      shop.database.close();
      const open = () => openRaw(server.url);
      const [waiting, half, idle] = [await open(), await open(), await open()];
      // One has a request in flight, one has sent half of one, one has been answered.
      const before = provider.asked();
      waiting.send(order(key, "in-flight"));
      await until(() => provider.asked() === before + 1);
      half.send(read(key).slice(0, 40));
      idle.send(read(key));
      const answered = await idle.response();
      expect([answered?.status, answered?.headers.get("connection")]).toEqual([200, null]);
      await hasRead(shop);
      server.kill("SIGTERM");
      // It stops once a connection that waits for nothing is ended.
      expect(await idle.rest()).toBe("");
      idle.close();
      half.send(read(key).slice(40));
      expect(await lastOf(half)).toEqual([200, "close", ""]);
      // What comes behind the last request is not taken.
      waiting.send(order(key, "too-late"));
      provider.release();
      expect(await lastOf(waiting)).toEqual([200, "close", ""]);
      expect((await server.ended).code).toBe(0);
      const links = (await binaryJson(shop.folder, "admin", "order", "list")).map(
        ({ link }: { link: string }) => link,
      );
      expect(links).toEqual(["in-flight"]);
    },
  );

  test("or to reload its certificate sends `Connection: close` with the next response over the old one", async () => {
    const folder = freshFolder();
    const files = makeCertificate(folder, "first");
    const { server, key } = await stall(folder, "--tls-cert", files.cert, "--tls-key", files.key);
    const connection = await openRaw(server.url);
    connection.send(read(key));
    expect((await connection.response())?.headers.get("connection")).toBeNull();
    server.kill("SIGHUP");
    await until(() => server.stderr().includes("certificate reloaded"));
    connection.send(read(key) + read(key));
    expect(await lastOf(connection)).toEqual([200, "close", ""]);
    await stop(server);
  });
});
