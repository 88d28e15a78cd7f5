// Bounds on what a request takes to read, however it is written and however its bytes arrive.

import { afterAll, describe, expect, test } from "bun:test";
import { type Malformed, Message, RequestParser } from "../../src/http1/parser.ts";
import { openRaw } from "../support/http/raw.ts";
import { rawRequests, seedMarket, request } from "../support/seeds/market.ts";
import { openService } from "../support/worlds/service.ts";

const market = seedMarket(await openService());
const { key, jsonFields, sent } = rawRequests(market);
afterAll(() => market.stop());

const START_LINES = {
  "a plain request": "GET /livez HTTP/1.1",
  "an unknown method": "FOO /livez HTTP/1.1",
  "a target that is not ASCII": "GET /livez?größe HTTP/1.1",
  "both of them": "FOO /livez?größe HTTP/1.1",
};

/** Header sections behind any request line. */
const HEADS = {
  "100 fields": ["x:\r\n".repeat(99), null],
  "101 fields": ["x:\r\n".repeat(100), 431],
  "16,000 empty fields": ["x:\r\n".repeat(16_000), 431],
  "12,000 fields with values": ["x:y\r\n".repeat(12_000), 431],
  "a field of 15 KB": [`x: ${"y".repeat(15_000)}\r\n`, null],
  "a field of 17 KB": [`x: ${"y".repeat(17_000)}\r\n`, 431],
  "a name of 17 KB": [`${"x".repeat(17_000)}: y\r\n`, 431],
  "40 KB of blanks before a value": [`x:${" ".repeat(40_000)}y\r\n`, 431],
  "40 KB of tabs behind a value": [`x:y${"\t".repeat(40_000)}\r\n`, 431],
} satisfies Record<string, [string, Malformed | null]>;

/** What stands behind the head of a request whose body is chunked. */
const CHUNKS = {
  "100 trailer fields": [`0\r\n${"x:\r\n".repeat(100)}\r\n`, 400],
  "101 trailer fields": [`0\r\n${"x:\r\n".repeat(101)}\r\n`, 431],
  "16,000 trailer fields": [`0\r\n${"x:\r\n".repeat(16_000)}\r\n`, 431],
  "a trailer field of 17 KB": [`0\r\nx: ${"y".repeat(17_000)}\r\n\r\n`, 431],
  "a trailer of 40 KB of blanks": [`0\r\nx: ${" ".repeat(40_000)}\r\n\r\n`, 431],
  "an extension of 10 KB": [`2;${"x".repeat(10_000)}\r\n[]\r\n0\r\n\r\n`, 400],
  "an extension of 40 KB": [`2;${"x".repeat(40_000)}\r\n[]\r\n0\r\n\r\n`, 431],
  "many extensions": [`${`1;${"x".repeat(400)}\r\n[\r\n`.repeat(200)}0\r\n\r\n`, 431],
  "a size with 40,000 zeros": [`${"0".repeat(40_000)}2\r\n[]\r\n0\r\n\r\n`, 431],
  "a body in chunks of one byte": [`${"1\r\n[\r\n".repeat(60_000)}0\r\n\r\n`, 400],
} satisfies Record<string, [string, 400 | 431]>;

/** How the bytes reach the server: the sizes of the segments. */
const ARRIVALS = [Infinity, 1000];

async function sentIn(size: number, text: string) {
  const bytes = Buffer.from(text);
  if (size === Infinity) return sent(bytes);
  const connection = await openRaw(market.url);
  for (let at = 0; at < bytes.length; at += size) {
    connection.send(bytes.subarray(at, at + size));
    await new Promise(setImmediate);
  }
  return connection;
}

describe.each(ARRIVALS)("in segments of at most %d bytes,", (size) => {
  describe.each(Object.entries(START_LINES))("%s with", (_name, line) => {
    test.each(Object.entries(HEADS))("%s", async (_title, [fields, refused]) => {
      const connection = await sentIn(size, `${line}\r\nhost: x\r\n${fields}\r\n`);
      const { status, body } = (await connection.response())!;
      expect(status).toBe(refused ?? (line.startsWith("FOO") ? 405 : 200));
      if (refused) {
        expect(body.message).toBe("Request headers too large");
        expect(await connection.rest()).toBe("");
      }
      connection.close();
    });
  });

  test.each(Object.entries(CHUNKS))("%s behind a head", async (_title, [chunks, status]) => {
    const before = market.fingerprint();
    const fields = [...jsonFields(), "transfer-encoding: chunked"];
    const connection = await sentIn(size, request("POST", "/api/v1/orders", fields, chunks));
    expect((await connection.response())?.status).toBe(status);
    connection.close();
    expect(market.fingerprint()).toBe(before);
  });

  test("64 KB of blank lines get a 431", async () => {
    const connection = await sentIn(size, "\r\n".repeat(32_000));
    expect((await connection.response())?.status).toBe(431);
    connection.close();
  });

  test("a panel's request with 101 trailer fields gets a 431", async () => {
    const fields = [
      "content-type: application/x-www-form-urlencoded",
      "transfer-encoding: chunked",
    ];
    const form = `key=${key}&action=balance`;
    const chunks = `${form.length.toString(16)}\r\n${form}\r\n0\r\n${"x:\r\n".repeat(101)}\r\n`;
    const connection = await sentIn(size, request("POST", "/api/v2", fields, chunks));
    const { status, body } = (await connection.response())!;
    expect([status, body]).toEqual([431, { error: "Incorrect request" }]);
    connection.close();
  });
});

test("pipelined requests are limited individually", async () => {
  const fields = [`x: ${"y".repeat(9000)}`, ...Array<string>(90).fill("z: z")];
  const bodied = [...fields, "transfer-encoding: chunked"];
  const chunks = `1;${"x".repeat(9000)}\r\n1\r\n0\r\n\r\n`;
  const both = request("GET", "/livez", fields) + request("POST", "/livez", bodied, chunks);
  const connection = await sent(both.repeat(20));
  for (let count = 0; count < 40; count++) {
    expect((await connection.response())?.status).toBe(count % 2 === 0 ? 200 : 405);
  }
  connection.close();
});

test.each([1, 7, 1000, 100_000])(
  "a body in pieces of %d bytes is the same as in one, and takes no more than twice its length",
  async (size) => {
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    const message = new Message("POST", "/", [], false, false, body.length);
    let largest = 0;
    for (let at = 0; at < body.length; at += size) message.add(body.subarray(at, at + size));
    message.complete();
    const received = (await message.body())!;
    largest = received.buffer.byteLength;
    expect(Buffer.from(received).equals(body)).toBe(true);
    expect(largest).toBeLessThanOrEqual(2 * body.length);
  },
);

test("a head that arrives byte by byte is not read again for each byte", () => {
  /** Processor time in microseconds: the fastest of several runs. */
  const cost = (target: string) => {
    const bytes = Buffer.from(`FOO /${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
    let best = Infinity;
    for (let run = 0; run < 20; run++) {
      const parser = new RequestParser(1000);
      const start = process.cpuUsage();
      for (let at = 0; at < bytes.length; at++) parser.read(bytes.subarray(at, at + 1));
      const { user, system } = process.cpuUsage(start);
      best = Math.min(best, user + system);
      expect(parser.messages.length).toBe(1);
    }
    return best;
  };
  cost("x".repeat(1000));
  // Twelve times the bytes: 144 times the time if each byte led to another look at those before it.
  expect(cost("x".repeat(12_000))).toBeLessThan(60 * cost("x".repeat(1000)));
});
