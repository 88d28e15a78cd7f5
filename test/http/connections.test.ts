// Requests as bytes on a connection: framing, malformed requests, and when the connection closes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { BODY_LIMIT_BYTES } from "../../src/domain/limits.ts";
import { listen } from "../../src/http1/listen.ts";
import { type Market, MARKER, openMarket } from "../support/market.ts";
import { openRaw, type RawConnection, rawRequest } from "../support/raw.ts";
import { expectEnvelope, expectError } from "../support/refusal.ts";

let market: Market;
let key: string;

beforeAll(async () => {
  market = await openMarket();
  key = market.keyOf("full");
});
afterAll(() => market.stop());

/** A request that leaves the connection open. */
function request(method: string, target: string, fields: string[] = [], body = ""): string {
  return rawRequest(method, target, fields, body).replace("connection: close\r\n", "");
}

const balance = () => request("GET", "/api/v1/balance", [`x-api-key: ${key}`]);

function order(link: string, fields: string[] = []): string {
  const body = JSON.stringify({ service: market.serviceId, link, quantity: 10 });
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return request("POST", "/api/v1/orders", [...jsonFields(), length, ...fields], body);
}

const jsonFields = () => [`x-api-key: ${key}`, "content-type: application/json"];

const ordersOf = (link: string) =>
  market.connection.sqlite.query("SELECT id FROM orders WHERE link = ?").all(link).length;

async function sent(bytes: string | Uint8Array): Promise<RawConnection> {
  const connection = await openRaw(market.url);
  connection.send(bytes);
  return connection;
}

describe("malformed requests get the error envelope, and the connection closes:", () => {
  const MALFORMED = "Malformed request";
  const bodied = (fields: string, body: string) =>
    `POST /api/v1/orders HTTP/1.1\r\nhost: x\r\nx-api-key: ${MARKER}\r\n${fields}\r\n\r\n${body}`;
  test.each([
    ["a greeting of TLS", "\x16\x03\x01\x02\x00\x01", 400, MALFORMED],
    ["a line that is none", `${MARKER}\r\n\r\n`, 400, MALFORMED],
    ["a method that is no token", `G{T /${MARKER} HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a method of 33 letters", `${"A".repeat(33)} / HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a blank in the target", `GET /${MARKER} b HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a target that is no path", `GET ${MARKER} HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a blank before a colon", `GET / HTTP/1.1\r\nhost : ${MARKER}\r\n\r\n`, 400, MALFORMED],
    ["a field that is folded", `GET / HTTP/1.1\r\nhost: x\r\n ${MARKER}\r\n\r\n`, 400, MALFORMED],
    ["a NUL in a field", `GET / HTTP/1.1\r\nhost: ${MARKER}\0\r\n\r\n`, 400, MALFORMED],
    ["line ends without CR", `GET / HTTP/1.1\nhost: ${MARKER}\n\n`, 505, null],
    ["no host", `GET /${MARKER} HTTP/1.1\r\n\r\n`, 400, MALFORMED],
    ["two hosts", `GET / HTTP/1.1\r\nhost: x\r\nHost: ${MARKER}\r\n\r\n`, 400, MALFORMED],
    ["HTTP/0.9", `GET /${MARKER}\r\n\r\n`, 505, null],
    ["HTTP/1.2", `GET /${MARKER} HTTP/1.2\r\nhost: x\r\n\r\n`, 505, null],
    ["HTTP/2", `GET /${MARKER} HTTP/2.0\r\nhost: x\r\n\r\n`, 505, null],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, null],
    ["a head of 17 KB", `GET / HTTP/1.1\r\nx: ${MARKER.repeat(1700)}\r\n\r\n`, 431, null],
    ["a target of 17 KB", `GET /${MARKER.repeat(1700)} HTTP/1.1\r\n\r\n`, 431, null],
    ["two lengths", bodied("content-length: 2\r\ncontent-length: 3", "{}"), 400, MALFORMED],
    ["a list of lengths", bodied("content-length: 2, 2", "{}"), 400, MALFORMED],
    ["a signed length", bodied("content-length: +2", "{}"), 400, MALFORMED],
    ["a length past 2^64", bodied(`content-length: ${"9".repeat(30)}`, "{}"), 400, MALFORMED],
    [
      "HTTP/2 and a request behind it",
      `GET /${MARKER} HTTP/2.0\r\nhost: x\r\nconnection: keep-alive\r\n\r\nGET /livez HTTP/1.1\r\nhost: x\r\n\r\n`,
      505,
      null,
    ],
    [
      "a length and chunks",
      bodied("content-length: 2\r\ntransfer-encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"),
      400,
      MALFORMED,
    ],
    [
      "chunks and a length",
      bodied("transfer-encoding: chunked\r\ncontent-length: 2", "2\r\n{}\r\n0\r\n\r\n"),
      400,
      MALFORMED,
    ],
    [
      "chunks twice",
      bodied("transfer-encoding: chunked, chunked", "2\r\n{}\r\n0\r\n\r\n"),
      400,
      null,
    ],
  ])("%s", async (_title, bytes, status, message) => {
    const before = market.fingerprint();
    const connection = await sent(Buffer.from(bytes, "latin1"));
    const answer = (await connection.response())!;
    expect(answer.status).toBe(status);
    if (message !== null && answer.status === 400) expectError(answer, status, message);
    expect(answer.body.requestId).toBe(answer.headers.get("x-request-id"));
    expectEnvelope(answer);
    expect(answer.headers.get("connection")).toBe("close");
    expect(await connection.rest()).toBe("");
    connection.close();
    expect(market.fingerprint()).toBe(before);
  });
});

test("a field counts whatever the case of its name and the whitespace around its value", async () => {
  const connection = await sent(
    request("GET", "/api/v1/balance", [`X-aPi-KEY: \t ${key} \t`, "X-REQUEST-ID:mine"]),
  );
  const answer = (await connection.response())!;
  expect([answer.status, answer.headers.get("x-request-id")]).toEqual([200, "mine"]);
  connection.close();
});

describe("a method that a path does not support is a 405:", () => {
  const METHODS = ["FOO", "get", "G3T", "Post", "post", "X", "PROPFIND", "QUERY", "TRACE", "PATCH"];
  const PATHS: [path: string, allow: string | null][] = [
    ["/api/v1/orders", "POST, GET"],
    ["/api/v1/balance", "GET"],
    ["/api/v1/orders/%62atch", "POST"],
    ["/api/v1/nowhere", null],
    ["/docs", "GET"],
    ["/openapi.json", "GET"],
    ["/livez", "GET"],
  ];
  test.each([...METHODS, "POST", "PUT", "DELETE", "OPTIONS"])("%s", async (method) => {
    const before = market.fingerprint();
    for (const [path, allow] of PATHS) {
      if (method === "POST" && path.startsWith("/api")) continue;
      const fields = [`x-api-key: ${key}`, "x-request-id: mine", "content-length: 2"];
      const connection = await sent(request(method, path, fields, "{}") + balance());
      const answer = (await connection.response())!;
      if (allow === null) expectError(answer, 404, "Not found");
      else expectError(answer, 405, "Method not allowed");
      expect([path, answer.headers.get("allow")]).toEqual([path, allow]);
      expect(answer.body.requestId).toBe("mine");
      expectEnvelope(answer);
      // Its body was passed over: what follows is a request again.
      expect((await connection.response())?.body).toHaveProperty("balance");
      connection.close();
    }
    expect(market.fingerprint()).toBe(before);
  });

  test("also an unknown method that arrives in parts", async () => {
    const connection = await openRaw(market.url);
    for (const part of ["\r\nGE", "X", "Y ", "/docs HTTP/1.1\r\n", "host: x\r\n\r\n"]) {
      connection.send(part);
      await fetch(`${market.url}/livez`);
    }
    expectError((await connection.response())!, 405, "Method not allowed");
    connection.close();
  });

  test.each(["/docs", "/api/v1/balance", "/api/v1/orders/1"])("HEAD %s", async (path) => {
    const fields = [`x-api-key: ${key}`, "x-request-id: mine"];
    const connection = await sent(request("HEAD", path, fields) + balance());
    const head = (await connection.response(true))!;
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET"]);
    expect(head.headers.get("x-request-id")).toBe("mine");
    // The length of the body that it does not send.
    expect(Number(head.headers.get("content-length"))).toBeGreaterThan(0);
    expect((await connection.response())?.body).toHaveProperty("balance");
    connection.close();
  });

  test("CONNECT, which closes the connection", async () => {
    const connection = await sent(request("CONNECT", "example.com:443") + balance());
    const answer = (await connection.response())!;
    expectError(answer, 404, "Not found");
    expect(answer.headers.get("connection")).toBe("close");
    expect(await connection.rest()).toBe("");
    connection.close();
  });
});

test.each([
  [
    "behind a body of 16 KB",
    (text: string) =>
      request("POST", "/livez", [`content-length: ${text.length}`], text) + "FOO / ",
  ],
  ["that is none and is 16 KB long", (text: string) => `FOO/${text}`],
])("an unknown method %s costs no more than that body", async (_title, bytesOf) => {
  const cost = async (character: string) => {
    const before = process.cpuUsage();
    for (let times = 0; times < 5; times++) {
      // A blank ends the run of characters that a method could be made of.
      const connection = await sent(bytesOf(`${character.repeat(16_000)} `));
      expect(await connection.response()).not.toBeNull();
      connection.close();
    }
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await cost("(");
  // A search that is quadratic takes some 500 times as long.
  expect(await cost("a")).toBeLessThan(20 * (await cost("(")));
});

test("pipelined reads and writes are handled one after the other", async () => {
  const connection = await sent(
    order("pipelined-1") + balance() + order("pipelined-2") + balance() + request("GET", "/x"),
  );
  const answers = [];
  for (let count = 0; count < 5; count++) answers.push((await connection.response())!);
  connection.close();
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
  const [first, after, second, last] = answers.map(({ body }) => body);
  expect([first.order.link, second.order.link]).toEqual(["pipelined-1", "pipelined-2"]);
  expect(Math.round((after.balance - last.balance) * 1e6)).toBe(
    Math.round(second.order.charge * 1e6),
  );
});

test("3,000 pipelined requests get their responses in order", async () => {
  const all = Array.from({ length: 3000 }, (_, n) =>
    request("GET", "/livez", [`x-request-id: ${n}`]),
  );
  const connection = await sent(all.join(""));
  for (let n = 0; n < all.length; n++) {
    expect((await connection.response())?.headers.get("x-request-id")).toBe(String(n));
  }
  connection.close();
});

test("a request may arrive byte by byte", async () => {
  const connection = await openRaw(market.url);
  for (const byte of order("bytes")) {
    connection.send(byte);
    await new Promise(setImmediate);
  }
  expect((await connection.response())?.body.order.link).toBe("bytes");
  connection.close();
});

test("a client that half-closes the connection still gets its response", async () => {
  const connection = await sent(order("half-closed"));
  connection.finish();
  expect((await connection.response())?.body.order.link).toBe("half-closed");
  expect(await connection.rest()).toBe("");
  connection.close();
});

test.each([
  ["head", (text: string) => text.slice(0, 60)],
  ["body", (text: string) => text.slice(0, -1)],
])("a client that goes away in the middle of a %s has done nothing", async (_, cut) => {
  const before = market.fingerprint();
  const connection = await sent(cut(order("cut")));
  connection.finish();
  // Whatever is said, it is not that something was done.
  expect(await connection.rest()).not.toContain("200 OK");
  connection.close();
  await fetch(`${market.url}/livez`);
  expect(market.fingerprint()).toBe(before);
});

describe("Expect: 100-continue", () => {
  const expecting = (fields: string[]) =>
    request("POST", "/api/v1/orders", [...fields, "expect: 100-continue"]);

  test("gets 100 before the body of a request that is permitted", async () => {
    const body = JSON.stringify({ service: market.serviceId, link: "expected", quantity: 10 });
    const length = `content-length: ${body.length}`;
    const connection = await sent(expecting([...jsonFields(), length]));
    expect((await connection.response())?.status).toBe(100);
    connection.send(body);
    expect((await connection.response())?.body.order.link).toBe("expected");
    connection.close();
  });

  test.each([
    ["without a key", 401, ["content-length: 20"]],
    ["too long", 413, null],
  ])("is not met %s", async (_title, status, fields) => {
    const tooLong = [...jsonFields(), `content-length: ${BODY_LIMIT_BYTES + 1}`];
    const connection = await sent(expecting(fields ?? tooLong));
    const answer = (await connection.response())!;
    expect([answer.status, answer.headers.get("connection")]).toEqual([status, "close"]);
    expect(await connection.rest()).toBe("");
    connection.close();
  });
});

describe("a body that is too long", () => {
  const long = "x".repeat(2 * BODY_LIMIT_BYTES);
  test.each([
    ["announced", [`content-length: ${long.length}`], long],
    ["in one chunk", ["transfer-encoding: chunked"], `${long.length.toString(16)}\r\n${long}`],
    [
      "in many chunks",
      ["transfer-encoding: chunked"],
      `1000\r\n${"x".repeat(4096)}\r\n`.repeat(40),
    ],
  ])("is refused before its end, and the refusal arrives: %s", async (_title, fields, body) => {
    const connection = await sent(
      request("POST", "/api/v1/orders", [...jsonFields(), ...fields], body),
    );
    const answer = (await connection.response())!;
    expectError(answer, 413, "Request body too large");
    expect(answer.headers.get("connection")).toBe("close");
    // It goes on sending all the same.
    for (let more = 0; more < 50; more++) connection.send(long);
    expect(await connection.rest()).toBe("");
    connection.close();
  });

  test("of a request that is refused is not read without end", async () => {
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    const fields = ["transfer-encoding: chunked"];
    const connection = await sent(request("POST", "/api/v1/orders", fields, chunk));
    expect((await connection.response())?.status).toBe(401);
    for (let more = 0; more < 20; more++) connection.send(chunk);
    expect(await connection.rest()).toBe("");
    connection.close();
  });
});

test("a body that is refused before it arrives is skipped, and the connection stays open", async () => {
  const connection = await sent(request("POST", "/api/v1/orders", ["content-length: 5"]));
  expect((await connection.response())?.status).toBe(401);
  connection.send(`12345${balance()}`);
  expect((await connection.response())?.body).toHaveProperty("balance");
  connection.close();
});

test("invalid chunks are a 400, and nothing is done", async () => {
  const before = market.fingerprint();
  const fields = [...jsonFields(), "transfer-encoding: chunked"];
  const connection = await sent(request("POST", "/api/v1/orders", fields, "2\r\n{}\r\nzz\r\n"));
  expectError((await connection.response())!, 400, "Request body must be valid JSON");
  expect(await connection.rest()).toBe("");
  connection.close();
  expect(market.fingerprint()).toBe(before);
});

describe("non-ASCII bytes in a target are parsed as if they were escaped,", () => {
  const REFERENCE = "größeà";
  const list = (reference: string) =>
    Buffer.from(request("GET", `/api/v1/orders?reference=${reference}`, [`x-api-key: ${key}`]));

  beforeAll(async () => {
    const body = { service: market.serviceId, link: "x", quantity: 10, reference: REFERENCE };
    expect((await market.call("POST", "/orders", key, body)).status).toBe(200);
  });

  test("in one segment, after another request", async () => {
    const connection = await sent(Buffer.concat([Buffer.from(order("x")), list(REFERENCE)]));
    expect((await connection.response())?.status).toBe(200);
    expect((await connection.response())?.body.orders).toHaveLength(1);
    connection.close();
  });

  test("byte by byte", async () => {
    const connection = await openRaw(market.url);
    for (const byte of list(REFERENCE)) {
      connection.send(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect((await connection.response())?.body.orders).toHaveLength(1);
    connection.send(list("groesse"));
    expect((await connection.response())?.body.orders).toHaveLength(0);
    connection.close();
  });

  test("with a method that is unknown, too", async () => {
    const connection = await sent(Buffer.from(request("FOO", "/docs?ü")));
    expectError((await connection.response())!, 405, "Method not allowed");
    connection.close();
  });
});

test("HTTP/1.0 needs no Host, and the connection closes after the response", async () => {
  const text = balance().replace("HTTP/1.1", "HTTP/1.0").replace("host: localhost\r\n", "");
  const connection = await sent(text);
  const answer = (await connection.response())!;
  expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
  expect(await connection.rest()).toBe("");
  connection.close();
});

test("an absolute-form target is routed by its path, whatever its host", async () => {
  const connection = await sent(balance().replace("/api", "http://example.com:99999/api"));
  expect((await connection.response())?.body).toHaveProperty("balance");
  connection.close();
});

test("Upgrade is ignored: the request gets its response and the connection closes", async () => {
  const fields = ["connection: Upgrade", "upgrade: h2c"];
  const connection = await sent(order("upgraded", fields) + balance());
  const answer = (await connection.response())!;
  expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
  expect(await connection.rest()).toBe("");
  connection.close();
  expect(ordersOf("upgraded")).toBe(1);
});

test("a response to a slow reader arrives whole", async () => {
  market.run("createService", {
    id: "large",
    name: "é€".repeat(100),
    priceMicros: 1,
    per: "1000",
    min: 1,
    max: 10,
    private: false,
  });
  const connection = await sent(
    request("GET", "/api/v1/services", [`x-api-key: ${key}`]).repeat(3000),
  );
  const first = (await connection.response())!;
  expect(Buffer.from(first.text, "utf8").length).toBe(Number(first.headers.get("content-length")));
  for (let more = 1; more < 3000; more++) {
    const answer = (await connection.response())!;
    if (answer.text !== first.text) throw new Error(`response ${more} is another`);
  }
  connection.close();
});

describe("a streamed body", () => {
  const PARTS = 400;
  const part = (number: number) => Buffer.alloc(50_000, `${number}\n`);

  async function served(body: () => ReadableStream) {
    const faults: unknown[] = [];
    const fail = (error: unknown) => {
      faults.push(error);
      return new Response(null, { status: 500 });
    };
    const refuse = (status: number) => new Response(null, { status });
    const handle = () => new Response(body());
    const server = listen(
      { handle, refuse, fail, bodyLimitBytes: 0 },
      { hostname: "127.0.0.1", port: 0 },
      null,
    );
    return { url: `http://127.0.0.1:${server.port}/`, faults, stop: () => server.stop() };
  }

  test("arrives whole, however slow its reader, and the connection stays open", async () => {
    const server = await served(() => {
      let number = 0;
      return new ReadableStream({
        pull(controller) {
          if (number === PARTS) controller.close();
          else controller.enqueue(part(number++));
        },
      });
    });
    const expected = createHash("sha256");
    for (let number = 0; number < PARTS; number++) expected.update(part(number));
    const digest = expected.digest("hex");
    for (let calls = 0; calls < 2; calls++) {
      const received = createHash("sha256");
      for await (const chunk of (await fetch(server.url)).body!) {
        received.update(chunk);
        await new Promise(setImmediate);
      }
      expect(received.digest("hex")).toBe(digest);
    }
    await server.stop();
    expect(server.faults).toEqual([]);
  });

  test("that fails closes the connection without its last chunk", async () => {
    const server = await served(
      () =>
        new ReadableStream({
          start: (controller) => controller.enqueue(part(0)),
          pull() {
            throw new Error("no more");
          },
        }),
    );
    const connection = await openRaw(server.url);
    connection.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await connection.rest()).not.toContain("\r\n0\r\n\r\n");
    connection.close();
    await server.stop();
    expect(server.faults.map(String)).toEqual(["Error: no more"]);
  });

  test("is cancelled when its reader disconnects", async () => {
    const cancelled = Promise.withResolvers<void>();
    const server = await served(
      () =>
        new ReadableStream({
          async pull(controller) {
            await new Promise(setImmediate);
            controller.enqueue(part(0));
          },
          cancel: () => cancelled.resolve(),
        }),
    );
    const connection = await openRaw(server.url);
    connection.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    await connection.response();
    connection.close();
    await cancelled.promise;
    await server.stop();
  });
});
