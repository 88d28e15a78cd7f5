// Requests as bytes: framing, malformed requests, unusual ones.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MARKER, rawRequests, seedMarket, request } from "../support/seeds/market.ts";
import { openRaw } from "../support/http/raw.ts";
import { expectEnvelope, expectError } from "../support/http/refusal.ts";
import { openService } from "../support/worlds/service.ts";

const market = seedMarket(await openService());
const { key, jsonFields, balance, order, sent } = rawRequests(market);
afterAll(() => market.stop());

describe("malformed requests get the error envelope, and the connection closes:", () => {
  const MALFORMED = "Malformed request";
  const bodied = (fields: string, body: string) =>
    `POST /api/v1/orders HTTP/1.1\r\nhost: x\r\nx-api-key: ${MARKER}\r\n${fields}\r\n\r\n${body}`;
  test.each([
    ["a greeting of TLS", "\x16\x03\x01\x02\x00\x01", 400, MALFORMED],
    ["an invalid line", `${MARKER}\r\n\r\n`, 400, MALFORMED],
    ["a method that is not a token", `G{T /${MARKER} HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a method of 33 letters", `${"A".repeat(33)} / HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a space in the target", `GET /${MARKER} b HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a target that is not a path", `GET ${MARKER} HTTP/1.1\r\nhost: x\r\n\r\n`, 400, MALFORMED],
    ["a space before a colon", `GET / HTTP/1.1\r\nhost : ${MARKER}\r\n\r\n`, 400, MALFORMED],
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

test.each([
  [
    "behind a body of 16 KB",
    (text: string) =>
      request("POST", "/livez", [`content-length: ${text.length}`], text) + "FOO / ",
  ],
  ["that is unknown and is 16 KB long", (text: string) => `FOO/${text}`],
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

test("a request may arrive byte by byte", async () => {
  const connection = await openRaw(market.url);
  for (const byte of order("bytes")) {
    connection.send(byte);
    await new Promise(setImmediate);
  }
  expect((await connection.response())?.body.order.link).toBe("bytes");
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
