// Slow, idle and excessive clients do no lasting harm to the compiled binary.

import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "bun:test";
import { type Serving, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const MIB = 2 ** 20;

const openFiles = ({ pid }: Serving) => readdirSync(`/proc/${pid}/fd`).length;
const residentBytes = ({ pid }: Serving) => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
};

interface Trickle {
  /** Resolves once the server has ended it. */
  ended: Promise<unknown>;
  isOpen(): boolean;
}

/** Sends `first` and then one more byte each second, as long as it is let. */
function trickle(server: Serving, first: string, more: string | null): Trickle {
  const { hostname, port } = new URL(server.url);
  const socket: Socket = connect(Number(port), hostname, () => socket.write(first));
  const timer = setInterval(() => more !== null && socket.write(more), 1000);
  const ended = new Promise((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(timer);
      resolve(null);
    });
  });
  socket.resume();
  return { ended, isOpen: () => !socket.destroyed };
}

test("slow heads, slow bodies and silence are cut off, however slowly bytes arrive", async () => {
  const { server, key } = await stall(freshFolder());
  const post = ["POST /api/v1/orders HTTP/1.1", "host: x", `x-api-key: ${key}`].join("\r\n");
  const json = `${post}\r\ncontent-type: application/json`;
  const attacks = [
    ["a head, byte by byte", "GET / HTTP/1.1\r\nhost: x\r\nx-a: ", "a"],
    ["a head, line by line", "GET / HTTP/1.1\r\nhost: x\r\n", "x-a: b\r\n"],
    ["a body, byte by byte", `${json}\r\ncontent-length: 5000\r\n\r\n`, "1"],
    ["a body, chunk by chunk", `${json}\r\ntransfer-encoding: chunked\r\n\r\n`, "1\r\n1\r\n"],
    ["silence", "", null],
    ["half a request line", "GET / HT", null],
  ] as const;
  const ends = attacks.map(([, first, more]) => trickle(server, first, more).ended);
  // Others are served meanwhile.
  expect((await callApi(server.url, "GET", "/balance", key)).status).toBe(200);
  await Promise.all(ends);
  await stop(server);
});

test("1,000 idle connections: others are served, and all are gone and their files closed in the end", async () => {
  // The connections that `fetch` keeps count for this address too.
  const { server, key } = await stall(freshFolder(), "--max-connections-per-address", "2000");
  for (let asked = 0; asked < 200; asked++) await callApi(server.url, "GET", "/balance", key);
  const filesBefore = openFiles(server);
  const memoryBefore = residentBytes(server);
  const idle: Trickle[] = [];
  await until(() => {
    // On a slow machine the server closes the first ones before the last are open: others take their place.
    while (idle.filter((each) => each.isOpen()).length < 1000) {
      idle.push(trickle(server, "", null));
    }
    return openFiles(server) >= filesBefore + 1000;
  });
  for (let asked = 0; asked < 100; asked++) {
    expect((await callApi(server.url, "GET", "/balance", key)).status).toBe(200);
  }
  await Promise.all(idle.map(({ ended }) => ended));
  await until(() => openFiles(server) <= filesBefore + 5);
  expect(residentBytes(server) - memoryBefore).toBeLessThan(64 * MIB);
  await stop(server);
});

describe("too much", () => {
  test("of a head is a 431 from the start, of a body a 413 before it is read", async () => {
    const { server, key } = await stall(freshFolder());
    const large = await fetch(`${server.url}/livez`, { headers: { "x-a": "a".repeat(100_000) } });
    expect(large.status).toBe(431);
    const body = `{"service":"${"s".repeat(70_000)}"}`;
    const answer = await callApi(server.url, "POST", "/orders", key, body);
    expect([answer.status, answer.body.message]).toEqual([413, "Request body too large"]);
    await stop(server);
  });

  test("of bodies that are announced and never sent holds no memory", async () => {
    const { server, key } = await stall(freshFolder());
    const before = residentBytes(server);
    const head = [
      "POST /api/v1/orders HTTP/1.1",
      "host: x",
      `x-api-key: ${key}`,
      "content-type: application/json",
      "content-length: 999999999999",
    ].join("\r\n");
    const ends = Array.from({ length: 200 }, () => trickle(server, `${head}\r\n\r\n`, null).ended);
    await Promise.all(ends);
    expect(residentBytes(server) - before).toBeLessThan(64 * MIB);
    await stop(server);
  });
});

test("every response forbids caching, sniffing, framing and scripts", async () => {
  const { server, key } = await stall(freshFolder());
  const paths = ["/api/v1/balance", "/api/v1/nothing", "/livez", "/readyz", "/", "/api/v1/user"];
  for (const path of paths) {
    const { headers } = await fetch(server.url + path, {
      headers: { "x-api-key": key },
      redirect: "manual",
    });
    expect([path, headers.get("cache-control")]).toEqual([path, "no-store"]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
    expect(headers.has("server") || headers.has("x-powered-by")).toBe(false);
    expect(headers.has("strict-transport-security")).toBe(false);
  }
  await stop(server);
});

test("a link is stored and never fetched", async () => {
  const asked: string[] = [];
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      asked.push(url);
      return new Response("");
    },
  });
  const { server, key } = await stall(freshFolder());
  for (let placed = 0; placed < 20; placed++) {
    const link = `http://127.0.0.1:${listener.port}/${placed}`;
    const { status } = await callApi(server.url, "POST", "/orders", key, {
      service: "s",
      link,
      quantity: 1,
    });
    expect(status).toBe(200);
  }
  await stop(server);
  expect(asked).toEqual([]);
  await listener.stop(true);
});
