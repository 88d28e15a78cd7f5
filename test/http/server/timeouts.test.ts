// What a peer that stands still may hold: its connection is ended, whatever it waits for.

import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { type Certificate, listen } from "../../../src/http1/listen.ts";
import type { IncomingRequest } from "../../../src/http1/request.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { openRaw, rawRequest } from "../../support/http/raw.ts";
import { freshFolder } from "../../support/folders.ts";

/** Longer than a connection may stand still. */
const LONG_MS = 60_000;

// Connections are timed by an interval: it fires when the test says so.
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function serve(
  respond: (request: IncomingRequest) => Response | Promise<Response>,
  tls: Certificate | null = null,
) {
  const handler = {
    handle: respond,
    refuse: () => new Response(null, { status: 400 }),
    fail: () => new Response(null, { status: 500 }),
    bodyLimitBytes: 1000,
  };
  return listen(handler, { hostname: "127.0.0.1", port: 0 }, tls);
}

function certificate(): Certificate {
  const { cert, key } = makeCertificate(freshFolder(), "timeouts");
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise<void>((resolve) => void socket.once("connect", resolve));
  return socket;
}

/** What was sent before a later connection is answered has been read. */
async function seen(url: string): Promise<void> {
  for (let calls = 0; calls < 2; calls++) {
    await fetch(url, { keepalive: false, tls: { rejectUnauthorized: false } });
  }
}

/** Lets time pass until it is so; a test's time-out ends the wait. */
async function passTimeUntil(condition: () => boolean): Promise<void> {
  while (!condition()) {
    jest.advanceTimersByTime(LONG_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function passNoTimeUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

test.each([
  ["nothing", ""],
  ["half a head", "GET / HTTP/1.1\r\nhost"],
  ["half a body", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n1234"],
])("a connection that sends %s is ended", async (_title, bytes) => {
  const server = serve(() => new Response());
  const socket = await connected(server.port);
  socket.resume().write(bytes);
  await seen(`http://127.0.0.1:${server.port}`);
  await passTimeUntil(() => socket.closed);
  await server.stop();
});

/** What is sent first, and then again and again. */
const DRIBBLES: Record<string, [first: string, piece: string]> = {
  "blank lines": ["", "\r\n"],
  "a method that does not end": ["G", "G"],
  "a request line that does not end": ["GET /", "x"],
  "a target beyond ASCII that does not end": ["GET /ü", "ü"],
  "an unknown method's line that does not end": ["FOO /", "x"],
  "header fields that do not end": ["GET / HTTP/1.1\r\nhost: x\r\n", "a: b\r\n"],
  "a body that does not end": ["POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n", "x"],
  "chunks that do not end": [
    "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
    "1\r\nx\r\n",
  ],
  "trailers that do not end": [
    "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
    "a: b\r\n",
  ],
  "blank lines behind a request": ["GET / HTTP/1.1\r\nhost: x\r\n\r\n", "\r\n"],
};

test.each(Object.entries(DRIBBLES))(
  "a connection that sends a piece of %s every 4 seconds is ended within 45",
  async (_title, [first, piece]) => {
    // One handler waits for the body, the other responds at once and leaves it unread.
    for (const waits of [true, false]) {
      const respond = (request: IncomingRequest) =>
        waits ? request.body().then(() => new Response()) : new Response();
      const server = serve(respond);
      const socket = await connected(server.port);
      socket.resume().write(first);
      for (let seconds = 0; seconds < 45; seconds += 4) {
        await seen(`http://127.0.0.1:${server.port}`);
        jest.advanceTimersByTime(4000);
        socket.write(piece);
      }
      await passNoTimeUntil(() => socket.closed);
      await server.stop();
    }
  },
);

test("a connection whose client reads its end and keeps its own side open is ended", async () => {
  const server = serve(() => new Response());
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  socket.resume();
  await passTimeUntil(() => socket.readableEnded);
  const stopped = server.stop();
  await passTimeUntil(() => true);
  await stopped;
  socket.destroy();
});

test.each([
  ["nothing", ""],
  ["half a greeting", "\x16\x03\x01\x02\x00\x01"],
])("a connection that sends %s of the handshake of TLS is ended", async (_title, bytes) => {
  const server = serve(() => new Response(), certificate());
  const socket = await connected(server.port);
  socket.resume().write(bytes, "latin1");
  await seen(`https://127.0.0.1:${server.port}`);
  await passTimeUntil(() => socket.closed);
  await server.stop();
});

test("a connection that does not read a body that is made while it is sent is ended", async () => {
  let isCancelled = false;
  const asked = Promise.withResolvers<void>();
  const server = serve(() => {
    asked.resolve();
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      await new Promise((resolve) => setImmediate(resolve));
      controller.enqueue(new Uint8Array(64 * 1024));
    };
    return new Response(new ReadableStream({ pull, cancel: () => void (isCancelled = true) }));
  });
  const socket = await connected(server.port);
  socket.pause().write(rawRequest("GET", "/"));
  await asked.promise;
  await passTimeUntil(() => isCancelled);
  socket.destroy();
  await server.stop();
});

test.each([false, true])(
  "a request that arrives once its connection was ended is not taken, TLS: %p",
  async (isTls) => {
    let handled = 0;
    const respond = () => {
      handled++;
      return new Response();
    };
    const server = serve(respond, isTls ? certificate() : null);
    const url = `${isTls ? "https" : "http"}://127.0.0.1:${server.port}`;
    const text = rawRequest("GET", "/").replace("connection: close\r\n", "");
    const connections = await Promise.all(Array.from({ length: 20 }, () => openRaw(url)));
    for (const connection of connections) {
      connection.send(text);
      expect((await connection.response())?.status).toBe(200);
    }
    const stopped = server.stop();
    // The idle connections were ended in this turn of the event loop; their clients do not know that yet.
    await new Promise(setImmediate);
    let answered = connections.length;
    await Promise.all(
      connections.map(async (connection) => {
        connection.send(text);
        if (await connection.response()) answered++;
        connection.close();
      }),
    );
    await stopped;
    expect(handled).toBe(answered);
  },
);

test("an error in the connection itself is reported and ends the connection", async () => {
  const reported: unknown[] = [];
  const failure = new Error("no refusal can be made");
  const handler = {
    handle: () => new Response(),
    refuse: (): Response => {
      throw failure;
    },
    fail(error: unknown) {
      reported.push(error);
      return new Response(null, { status: 500 });
    },
    bodyLimitBytes: 1000,
  };
  const server = listen(handler, { hostname: "127.0.0.1", port: 0 }, null);
  const socket = await connected(server.port);
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  socket.resume().write("no request\r\n\r\n");
  await closed;
  expect(reported).toEqual([failure]);
  await server.stop();
});
