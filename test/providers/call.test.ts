// One call to a provider: what counts as not sent, which replies are unreadable, and that fetch sends nothing twice.

import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "bun:test";
import { REPLY_LIMIT_BYTES, createSender } from "../../src/providers/call.ts";
import { smmApi } from "../../src/providers/smm-api.ts";

const FORM = { key: "k", action: "add" };
/** Limit for the call that must reach it. */
const TIMEOUT_MS = 300;
/** Limit for every other call, which must not reach it. */
const NEVER_MS = 600_000;
const never = new AbortController().signal;

/** Only for this test; no authority has signed it. */
const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7/AE+x+Yy0G7K8Md
TnfjEPglsdNCNnoTBm4YqbJfVEehRANCAARnK8r7kkbkRCwhmo51eL1jGHylikwo
CZqP/Ig8w98cTvZzPJ6uAvx2KPPkEYeM+duvl5ID5WS0+MN0ONWv9ncp
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUVhvPJqT82Xvwvvh8SpObhoaIrVswCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAyMDYzOFoYDzIxMjYxMDI4
MDIwNjM4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARnK8r7kkbkRCwhmo51eL1jGHylikwoCZqP/Ig8w98cTvZzPJ6uAvx2
KPPkEYeM+duvl5ID5WS0+MN0ONWv9ncpo1MwUTAdBgNVHQ4EFgQUTpO5+tliJ5EC
e6h+4rAFilYVQdkwHwYDVR0jBBgwFoAUTpO5+tliJ5ECe6h+4rAFilYVQdkwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAkhCLynZF4SRhf25XGmQr
hMLcUJdXYCMI+WhzNmnQ8ocCIQC1nOTjZQAhPQWO8GGtyS/vtcuio32HW+8KOifr
+tKazg==
-----END CERTIFICATE-----`,
};

/** A server that handles each connection as given, and records what it received. */
async function listening(onConnection: (socket: Socket) => void) {
  const server = createServer((socket) => {
    heard.connections += 1;
    socket.on("error", () => {});
    socket.resume();
    onConnection(socket);
  });
  const heard = { connections: 0 };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    heard,
    [Symbol.dispose]: () => void server.close(),
  };
}

test("connection refused or an unknown host name: not sent", async () => {
  for (const url of ["http://127.0.0.1:1/", "https://127.0.0.1:1/"]) {
    const reply = await createSender(url, NEVER_MS)(FORM, { stop: never, once: true });
    expect([url, reply]).toMatchObject([url, { kind: "failure", failure: "not_sent" }]);
  }
});

test("an untrusted certificate: not sent, and the server never receives the request", async () => {
  let seen = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: CERTIFICATE,
    fetch: () => {
      seen += 1;
      return Response.json({ order: 1 });
    },
  });
  const reply = await createSender(server.url.href, NEVER_MS)(FORM, {
    stop: never,
    once: true,
  });
  expect(reply).toMatchObject({ kind: "failure", failure: "not_sent" });
  expect(seen).toBe(0);
});

test("a failed TLS handshake has the same error as a failure within a reply: unanswered", async () => {
  using server = await listening((socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
  const url = server.url.replace("http:", "https:");
  const reply = await createSender(url, NEVER_MS)(FORM, { stop: never, once: true });
  expect(reply).toMatchObject({ kind: "failure", failure: "unanswered" });
});

test("a connection that breaks, before or after a byte was read, may have carried the request: unanswered, once", async () => {
  for (const onConnection of [
    (socket: Socket) => socket.destroy(),
    (socket: Socket) => socket.once("data", () => socket.destroy()),
  ]) {
    using server = await listening(onConnection);
    const reply = await createSender(server.url, NEVER_MS)(FORM, {
      stop: never,
      once: true,
    });
    expect(reply).toMatchObject({ kind: "failure", failure: "unanswered" });
    expect(server.heard.connections).toBe(1);
  }
});

test("a call without a reply ends with the time-out, or with the service", async () => {
  using server = await listening(() => {});
  const late = await createSender(server.url, TIMEOUT_MS)(FORM, { stop: never, once: true });
  expect(late).toEqual({ kind: "failure", failure: "unanswered", cause: "no answer within 0.3 s" });
  const stop = new AbortController();
  const stopped = createSender(server.url, NEVER_MS)(FORM, {
    stop: stop.signal,
    once: true,
  });
  stop.abort();
  expect(await stopped).toMatchObject({ failure: "unanswered", cause: "the server was stopped" });
});

test("a reply is read up to its limit and no further", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) =>
      new Response("1".repeat(Number(new URL(request.url).pathname.slice(1)))),
  });
  const lengthOf = (bytes: number, limitBytes?: number) =>
    createSender(`${server.url.href}${bytes}`, NEVER_MS)(FORM, {
      stop: never,
      ...(limitBytes ? { limitBytes } : {}),
    });
  expect(await lengthOf(300)).toMatchObject({ kind: "json" });
  expect(await lengthOf(REPLY_LIMIT_BYTES)).toMatchObject({ kind: "json" });
  expect(await lengthOf(REPLY_LIMIT_BYTES + 1)).toMatchObject({ failure: "unreadable" });
  expect(await lengthOf(REPLY_LIMIT_BYTES + 1, REPLY_LIMIT_BYTES * 2)).toMatchObject({
    kind: "json",
  });
});

test("a call with an effect has a connection of its own; others share one", async () => {
  using server = await listening((socket) =>
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")),
  );
  const send = createSender(server.url, NEVER_MS);
  for (let calls = 0; calls < 3; calls += 1) await send(FORM, { stop: never });
  expect(server.heard.connections).toBe(1);
  for (let calls = 0; calls < 3; calls += 1) await send(FORM, { stop: never, once: true });
  expect(server.heard.connections).toBeGreaterThanOrEqual(3);
});

describe("HTTP 429", () => {
  // Without `connection: close`, the next call might use a connection that the server is about to close.
  const head = "HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\n";
  test.each([
    ["an order number", `${head}content-length: 11\r\n\r\n{"order":7}`],
    ["an error", `${head}content-length: 14\r\n\r\n{"error":"no"}`],
    ["a page", `${head}content-type: text/html\r\n\r\n<html>`],
    ["nothing", `${head}content-length: 0\r\n\r\n`],
    ["a body that breaks off", `${head}content-length: 100\r\n\r\n{"order":`],
    ["an encoding that was not asked for", `${head}content-encoding: br\r\n\r\nx`],
    ["no gzip", `${head}content-encoding: gzip\r\ncontent-length: 1\r\n\r\nx`],
    ["more than is read", `${head}\r\n${"1".repeat(REPLY_LIMIT_BYTES + 1)}`],
  ])("with %s: an order is not sent, any other call has failed", async (_, reply) => {
    using server = await listening((socket) => socket.once("data", () => socket.end(reply)));
    const api = smmApi(createSender(server.url, NEVER_MS), "provider-key");
    const order = { service: "1", link: "x", fields: {}, orderId: 1, createdAt: 0 };
    expect(await api.submit(order, never)).toEqual({ outcome: "not_sent", cause: "HTTP 429" });
    for (const orders of [["1"], ["1", "2"]]) {
      expect(await api.status(orders, never)).toEqual({ failed: "HTTP 429", answered: false });
    }
    for (const call of [api.services(never), api.balance(never)]) {
      expect(await call.catch(String)).toBe("ProviderFailure: HTTP 429");
    }
  });
});

describe("a reply that is not JSON", () => {
  const PAGE = "<html>\n<title>502 Bad Gateway</title> for our-secret-key";
  const submitted = async (body: string | Uint8Array<ArrayBuffer>, status = 502) => {
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(body, { status }),
    });
    const api = smmApi(createSender(server.url.href, NEVER_MS), "our-secret-key");
    return await api.submit(
      { orderId: 1, createdAt: 0, service: "1", link: "x", fields: {} },
      never,
    );
  };

  test("is in the cause as a text, without the key, and cut", async () => {
    const { cause } = (await submitted(PAGE)) as { cause: string };
    expect(cause).toBe(
      "HTTP 502, a reply that is not JSON: <html> <title>502 Bad Gateway</title> for ***",
    );
    const long = (await submitted(`${"x".repeat(163)}our-secret-key and more`)) as {
      cause: string;
    };
    expect(long.cause).not.toContain("our");
    expect(long.cause.length).toBe(201);
  });

  test.each([
    ["nothing", ""],
    ["blanks", " \n"],
    ["of another encoding", new Uint8Array(Buffer.from(`\ufeff${PAGE}`, "utf16le"))],
    ["no text", Uint8Array.of(0xff, 0xfe, 0x41)],
    ["a text with control characters", "our\u0000-secret\u0000-key"],
  ])("%s: only the status is in the cause", async (_, body) => {
    expect(await submitted(body)).toEqual({
      outcome: "unknown",
      cause: "HTTP 502, a reply that is not JSON",
    });
  });
});

describe("a compressed reply", () => {
  const REPLY = JSON.stringify({ order: 7 });
  const replyTo = async (body: Uint8Array<ArrayBuffer>, encoding: string) => {
    let accepted: string | null = null;
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        accepted = request.headers.get("accept-encoding");
        return new Response(body, { headers: { "content-encoding": encoding } });
      },
    });
    const reply = await createSender(server.url.href, NEVER_MS)(FORM, { stop: never });
    expect<string | null>(accepted).toBe("gzip");
    return reply;
  };

  test.each(["gzip", "GZIP", "x-gzip"])("as %s is read", async (encoding) => {
    const reply = await replyTo(gzipSync(REPLY), encoding);
    expect(reply).toEqual({ kind: "json", status: 200, json: { order: 7 } });
  });

  test("as identity is read", async () => {
    const reply = await replyTo(Buffer.from(REPLY), "identity");
    expect(reply).toMatchObject({ json: { order: 7 } });
  });

  test.each([
    ["no gzip at all", Buffer.from(REPLY), "gzip", "not gzip"],
    ["nothing", Buffer.alloc(0), "gzip", "not gzip"],
    ["cut off", gzipSync(REPLY).subarray(0, -9), "gzip", "not gzip"],
    ["unexpected Content-Encoding", Buffer.from(REPLY), "br", "unexpected Content-Encoding"],
    ["small, of more than is read", gzipSync(Buffer.alloc(64 << 20)), "gzip", "too long"],
  ])("%s: unreadable", async (_, body, encoding, cause) => {
    const reply = await replyTo(body, encoding);
    expect(reply).toMatchObject({ failure: "unreadable", cause: expect.stringContaining(cause) });
  });
});
