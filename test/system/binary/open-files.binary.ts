// The compiled binary with few file descriptors, and more connections than those.

import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, expect, test } from "bun:test";
import {
  BINARY,
  binary,
  binaryJson,
  type Serving,
  servingAs,
  stallOf,
  stop,
} from "../../support/binary.ts";
import { openRaw, type RawConnection, rawRequest } from "../../support/http/raw.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const FILES = 512;
const SILENT = 700;
const LIMITED = ["bash", "-c", `ulimit -n ${FILES} && exec "$@"`, "bash"];

const ORDER = { service: "p", link: "x", quantity: 1 };

const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const form = new URLSearchParams(await request.text());
    return Response.json(form.get("action") === "add" ? { order: ++placed } : { error: "no" });
  },
});
let placed = 0;
afterAll(() => provider.stop(true));

/** A server with a service `p` of the provider. */
async function openShop(folder: string, upstream: URL, ...flags: string[]) {
  const listens = ["--panel-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
  const server = await servingAs(LIMITED, {}, folder, "serve", ...listens, ...flags);
  const { key } = await stallOf(server, folder);
  const create = `admin provider create acme --url ${upstream.href} --key-stdin --no-check`;
  const { exitCode, stderr } = Bun.spawnSync([BINARY, ...create.split(" ")], {
    cwd: folder,
    stdin: Buffer.from("upstream-secret"),
    env: { HOME: folder, RESELLER_ENV_FILE: "none" },
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
  const service =
    "admin service create --id p --name P --price 1 --min 1 --max 1000 --provider acme --provider-service 5";
  await binaryJson(folder, ...service.split(" "));
  const urlOf = (name: string) => new RegExp(`"${name}":"(http[^"]+)"`).exec(server.stderr())![1]!;
  return { server, key, panel: urlOf("panel"), metrics: urlOf("metrics") };
}

const urlsOf = ({ server, panel, metrics }: Awaited<ReturnType<typeof openShop>>) => [
  server.url,
  panel,
  metrics,
];

/** Connections that send `bytes` and no more. */
async function openSilent(url: string, count: number, bytes: string): Promise<Socket[]> {
  const port = Number(new URL(url).port);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {}).resume();
      await new Promise<void>((resolve) => void socket.once("connect", resolve));
      socket.write(bytes);
      return socket;
    }),
  );
}

/** Processor time of a process in milliseconds. */
function processorTime({ pid }: Serving): number {
  const [, after] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = after!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const filesOf = ({ pid }: Serving) => readdirSync(`/proc/${pid}/fd`).length;

test(`with ${FILES} files, ${SILENT} connections to each listener keep nobody from ordering, and cost no processor time`, async () => {
  const folder = freshFolder();
  const shop = await openShop(folder, provider.url);
  const { server, key } = shop;
  const all: Socket[] = [];
  for (const bytes of ["GET / HTTP/1.1\r\nhost: x\r\n", "\r\n\r\n", ""]) {
    for (const url of urlsOf(shop)) all.push(...(await openSilent(url, SILENT, bytes)));
    for (let count = 0; count < 3; count++) {
      const { status, body } = await callApi(server.url, "POST", "/orders", key, ORDER);
      expect([status, body.order.status]).toEqual([200, "PROCESSING"]);
    }
    expect(filesOf(server)).toBeLessThan(FILES / 2);
  }
  const before = processorTime(server);
  const begun = performance.now();
  await until(() => performance.now() > begun + 1500);
  // A listener that cannot accept spins at 40 to 100 % of a core.
  const share = (processorTime(server) - before) / (performance.now() - begun);
  expect(share).toBeLessThan(0.25);

  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect((await fetch(`${shop.panel}/sign-in`, { redirect: "manual" })).status).toBeLessThan(400);
  const figures = await (await fetch(shop.metrics)).text();
  for (const listener of ["api", "panel", "metrics"]) {
    const displaced = new RegExp(`displaced_total{listener="${listener}"} ([0-9]+)`).exec(figures);
    expect(Number(displaced?.[1])).toBeGreaterThan(SILENT);
  }
  expect(server.stderr()).toContain("because the limit is reached");
  for (const socket of all) socket.destroy();
  await stop(server);
  expect((await binary(folder, "verify")).code).toBe(0);
});

test("orders that wait for their provider keep their connections; a new one is refused until one of them is free", async () => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  using slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch() {
      const order = ++asked;
      await held.promise;
      return Response.json({ order });
    },
  });
  const limits = ["--place-wait", "10m", "--max-connections-per-address", "4"];
  const { server, key } = await openShop(freshFolder(), slow.url, ...limits);
  const text = JSON.stringify(ORDER);
  const fields = ["content-type: application/json", `x-api-key: ${key}`];
  const length = `content-length: ${text.length}`;
  const waiting: RawConnection[] = [];
  for (let count = 0; count < 4; count++) {
    const connection = await openRaw(server.url);
    connection.send(rawRequest("POST", "/api/v1/orders", [...fields, length], text));
    waiting.push(connection);
  }
  await until(() => asked === 4);
  const refused = await openRaw(server.url);
  refused.send(rawRequest("GET", "/livez"));
  expect(await refused.response()).toBeNull();
  held.resolve();
  for (const connection of waiting) {
    expect((await connection.response())?.body.order.status).toBe("PROCESSING");
    connection.close();
  }
  await until(async () => (await fetch(`${server.url}/livez`).catch(() => null))?.status === 200);
  await stop(server);
});
