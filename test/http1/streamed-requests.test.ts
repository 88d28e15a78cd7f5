// Bodies of requests that are read while they arrive.

import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listen, type Server } from "../../src/http1/listen.ts";
import type { IncomingRequest } from "../../src/http1/request.ts";
import { openRaw } from "../support/http/raw.ts";

const LIMIT = 64 * 1024 * 1024;

let server: Server;
let url: string;
let read: (request: IncomingRequest) => Promise<Response>;
beforeAll(() => {
  server = listen(
    {
      handle: (request) => read(request),
      refuse: (status) => new Response(null, { status }),
      fail: (error) => new Response(String(error), { status: 500 }),
      bodyLimitBytes: 1000,
      streamed: { path: "/files", limitBytes: LIMIT },
    },
    { hostname: "127.0.0.1", port: 0 },
    null,
  );
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop());

/** Replies with the hash of the body and the size of its largest part. */
async function hashed(request: IncomingRequest): Promise<Response> {
  const hash = new Bun.CryptoHasher("sha256");
  let largest = 0;
  for await (const part of request.stream()) {
    hash.update(part);
    largest = Math.max(largest, part.length);
    await new Promise(setImmediate);
  }
  if (request.isTooLong) return new Response(null, { status: 413 });
  return Response.json({ hash: hash.digest("hex"), largest });
}

const random = (bytes: number) => crypto.getRandomValues(Buffer.alloc(bytes));
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

describe("a streamed body", () => {
  test.each([
    ["with a length", (body: Uint8Array) => body],
    ["in chunks", (body: Uint8Array) => new Blob([body as BlobPart]).stream()],
  ])(
    "%s arrives whole, in parts of at most 16 KiB, and the connection stays open",
    async (_, sent) => {
      read = hashed;
      for (const bytes of [0, 1, 16_384, 65_537, 60_001, 60_000]) {
        const body = random(bytes);
        const init = { method: "POST", body: sent(body) as BodyInit };
        const { hash, largest } = (await (await fetch(`${url}/files`, init)).json()) as {
          hash: string;
          largest: number;
        };
        expect(hash).toBe(sha256(body));
        expect(largest).toBeLessThanOrEqual(16_384);
      }
    },
  );

  test("is not read from the connection before its reader takes it", async () => {
    const { promise: mayRead, resolve: letRead } = Promise.withResolvers<void>();
    read = async (request) => {
      await mayRead;
      return hashed(request);
    };
    const body = random(60 * 1024 * 1024);
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(`POST /files HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`);
    let sent = 0;
    const sends = (async () => {
      for (let at = 0; at < body.length; at += 1024 * 1024) {
        const piece = body.subarray(at, at + 1024 * 1024);
        await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
        sent += piece.length;
      }
    })();
    // The kernel's buffers fill, and nothing more is taken.
    for (let [before, turns] = [0, 0]; turns < 5000; turns += 1) {
      if (before !== sent) [before, turns] = [sent, 0];
      await new Promise(setImmediate);
    }
    expect(sent).toBeLessThan(30 * 1024 * 1024);
    letRead();
    await sends;
    const [reply] = (await once(socket, "data")) as [Buffer];
    expect(reply.toString()).toContain(sha256(body));
    socket.destroy();
  });

  test("above its limit ends early, and the connection closes", async () => {
    read = hashed;
    const connection = await openRaw(url);
    connection.send("POST /files HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = Buffer.concat([
      Buffer.from("800000\r\n"),
      Buffer.alloc(8_388_608),
      Buffer.from("\r\n"),
    ]);
    for (let sent = 0; sent <= LIMIT; sent += 8_388_608) connection.send(chunk);
    expect((await connection.response())!.status).toBe(413);
    connection.close();
  });

  test("that is answered unread closes the connection after the response", async () => {
    read = async () => new Response(null, { status: 403 });
    const connection = await openRaw(url);
    connection.send("POST /files HTTP/1.1\r\nhost: x\r\ncontent-length: 4000000000\r\n\r\nabc");
    const { status, headers } = (await connection.response())!;
    expect([status, new Headers(headers).get("connection")]).toEqual([403, "close"]);
    expect(await connection.rest()).toBe("");
    connection.close();
  });

  test("that breaks off throws", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    read = async (request) => {
      try {
        for await (const part of request.stream()) void part;
        resolve("whole");
      } catch (error) {
        resolve(String(error));
      }
      return new Response();
    };
    const connection = await openRaw(url);
    connection.send("POST /files HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc");
    connection.close();
    expect(await promise).toContain("broke off");
  });

  test("of another path is a whole body with the limit of other paths", async () => {
    read = hashed;
    const long = { method: "POST", body: random(1001) };
    expect((await fetch(`${url}/files?x=1`, long)).status).toBe(413);
    const short = random(1000);
    const reply = await fetch(`${url}/files?x=1`, { method: "POST", body: short });
    expect(((await reply.json()) as { hash: string }).hash).toBe(sha256(short));
  });
});
