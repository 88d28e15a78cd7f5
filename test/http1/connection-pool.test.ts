// Limits of connections: who is closed for whom.

import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { type ConnectionLimits, ConnectionPool } from "../../src/http1/connection-pool.ts";
import { listen } from "../../src/http1/listen.ts";
import type { IncomingRequest } from "../../src/http1/request.ts";
import { rawRequest } from "../support/http/raw.ts";

// Connections are timed by an interval: it fires when the test says so.
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const REQUEST = rawRequest("GET", "/").replace("connection: close\r\n", "");

async function serve(limits: Partial<ConnectionLimits>) {
  let seen = 0;
  const pool = new ConnectionPool({
    all: Infinity,
    perClient: Infinity,
    ...limits,
    clientOf(address) {
      seen++;
      return limits.clientOf ? limits.clientOf(address) : address;
    },
  });
  const held = Promise.withResolvers<void>();
  let handling = 0;
  const handler = {
    async handle(request: IncomingRequest) {
      if (request.path === "/held") {
        handling++;
        await held.promise;
      }
      if (request.path === "/body") await request.body().catch(() => {});
      // More than the buffers of a socket take.
      if (request.path === "/large") return new Response(endless());
      return new Response();
    },
    refuse: () => new Response(null, { status: 400 }),
    fail: () => new Response(null, { status: 500 }),
    bodyLimitBytes: 1000,
  };
  const server = listen(handler, { hostname: "0.0.0.0", port: 0 }, null, pool);
  const sockets: Socket[] = [];
  /** Connects from an address of this machine, and sends once the server has admitted or refused it. */
  const open = async (from: string, bytes = "", reads = true): Promise<Socket> => {
    const before = seen;
    const socket = connect({ port: server.port, host: "127.0.0.1", localAddress: from });
    socket.on("error", () => {});
    sockets.push(socket);
    if (reads) socket.resume();
    await new Promise<void>((resolve) => void socket.once("connect", resolve));
    await until(() => seen > before);
    if (bytes !== "") socket.write(bytes);
    return socket;
  };
  return {
    pool,
    open,
    handling: () => handling,
    release: () => held.resolve(),
    stop: async () => {
      held.resolve();
      for (const socket of sockets) socket.destroy();
      await server.stop();
    },
  };
}

function endless(): ReadableStream<Uint8Array> {
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(new Uint8Array(64 * 1024));
  return new ReadableStream({ pull });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

async function answers(socket: Socket): Promise<string> {
  const text = new Promise<string>((resolve, reject) => {
    socket.once("data", (bytes) => resolve(bytes.toString()));
    socket.once("close", () => reject(new Error("closed without a response")));
  });
  socket.write(REQUEST);
  return text;
}

test("one address has no more connections than are allowed, and its next one is served", async () => {
  const { open, pool, stop } = await serve({ perClient: 3 });
  const silent: Socket[] = [];
  for (let count = 0; count < 10; count++) silent.push(await open("127.0.0.1"));
  const next = await open("127.0.0.1");
  expect(await answers(next)).toStartWith("HTTP/1.1 200 OK");
  // The oldest were closed first.
  await until(() => silent.filter(({ closed }) => closed).length === 8);
  expect(silent.map(({ closed }) => closed)).toEqual([...Array(8).fill(true), false, false]);
  expect(pool.figures()).toEqual({ open: 3, limit: Infinity, refused: 0, displaced: 8 });
  await stop();
});

test("when all connections are taken, the address with the most loses one, and others keep theirs", async () => {
  const { open, pool, stop } = await serve({ all: 10 });
  const few = [await open("127.0.0.2"), await open("127.0.0.3")];
  const many: Socket[] = [];
  for (let count = 0; count < 30; count++) many.push(await open("127.0.0.1"));
  const next = await open("127.0.0.4");
  expect(await answers(next)).toStartWith("HTTP/1.1 200 OK");
  for (const socket of few) expect(await answers(socket)).toStartWith("HTTP/1.1 200 OK");
  expect(pool.figures()).toMatchObject({ open: 10, refused: 0, displaced: 23 });
  await until(() => many.filter(({ closed }) => closed).length === 23);
  await stop();
});

test("the connections of a proxy count towards all, not as those of one client", async () => {
  const clientOf = (address: string) => (address === "127.0.0.9" ? null : address);
  const { open, pool, stop } = await serve({ all: 10, perClient: 2, clientOf });
  for (let count = 0; count < 30; count++) await open("127.0.0.9");
  expect(pool.figures()).toMatchObject({ open: 10, displaced: 20 });
  await stop();
});

test.each([
  ["of one address", { perClient: 4 }],
  ["of all", { all: 4 }],
])(
  "requests that are being handled keep the limit %s: a new connection is refused",
  async (_title, limits) => {
    const clients: string[] = [];
    const onFull = (client: string | null) => void clients.push(client!);
    const { open, pool, handling, release, stop } = await serve({ ...limits, onFull });
    const held = REQUEST.replace("GET /", "GET /held");
    const taken: Socket[] = [];
    for (let count = 0; count < 4; count++) taken.push(await open("127.0.0.1", held));
    await until(() => handling() === 4);
    const refused = await open("127.0.0.1");
    await until(() => refused.closed);
    expect(pool.figures()).toMatchObject({ open: 4, refused: 1, displaced: 0 });
    expect(clients).toEqual(["127.0.0.1"]);
    const responses = taken.map(
      (socket) => new Promise((resolve) => void socket.once("data", resolve)),
    );
    release();
    await Promise.all(responses);
    const next = await open("127.0.0.1");
    expect(await answers(next)).toStartWith("HTTP/1.1 200 OK");
    await stop();
  },
);

/** What a connection has sent, and from when on another may take its place. */
const STATES: Record<string, [bytes: string, seconds: number, reads: boolean]> = {
  nothing: ["", 0, true],
  "blank lines": ["\r\n\r\n", 0, true],
  "half a request line": ["GET /", 0, true],
  "half a head": ["GET / HTTP/1.1\r\nhost", 0, true],
  "a request that was answered": [REQUEST, 0, true],
  "half a body": ["POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n1", 6, true],
  "half a body behind its response": [
    "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n1",
    6,
    true,
  ],
  "a request whose response it does not read": [REQUEST.replace("/", "/large"), 6, false],
};

test.each(Object.entries(STATES))(
  "a connection that has sent %s makes room for another, at once or after 5 seconds",
  async (_title, [bytes, seconds, reads]) => {
    const { open, pool, stop } = await serve({ perClient: 1 });
    const first = await open("127.0.0.1", bytes, reads);
    // What was sent before a later connection is answered has been read.
    for (let calls = 0; calls < 2; calls++) await answers(await open("127.0.0.2"));
    const { displaced } = pool.figures();
    if (seconds > 0) {
      const early = await open("127.0.0.1");
      await until(() => early.closed);
      expect(pool.figures()).toMatchObject({ refused: 1, displaced });
      jest.advanceTimersByTime(seconds * 1000);
    }
    const second = await open("127.0.0.1");
    expect(await answers(second)).toStartWith("HTTP/1.1 200 OK");
    expect(pool.figures().displaced).toBe(displaced + 1);
    first.destroy();
    await stop();
  },
);
