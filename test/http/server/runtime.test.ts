// What Bun's own HTTP server does with bytes that follow a request, and why requests are read by src/http1 instead.
// If one of these fails, Bun has changed: see docs/decisions/0015-http-from-sockets-of-our-own.md for what may then become simpler.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { exchangeRaw } from "../../support/http/raw.ts";

let server: Bun.Server<undefined>;
/** Bodies of the requests that were handled to their end. */
let handled: string[] = [];

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      await new Promise(setImmediate);
      handled.push(body);
      return new Response("done");
    },
  });
});
afterAll(() => server.stop(true));

const POST = "POST / HTTP/1.1\r\nhost: x\r\n";

test.each([
  ["an empty line", `${POST}content-length: 2\r\n\r\n{}\r\n`],
  ["another body", `${POST}content-length: 2\r\n\r\n{}{}`],
  ["trailers", `${POST}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-a: b\r\n\r\n`],
])("Bun.serve refuses a request that it handles when it is followed by %s", async (_, request) => {
  handled = [];
  expect(await exchangeRaw(server.url.href, request)).toStartWith("HTTP/1.1 400 Bad Request\r\n");
  // The handler goes on for a turn.
  await new Promise(setImmediate);
  expect(handled).toEqual(["{}"]);
});

test("Bun.serve closes without a response when a request follows one that is still handled", async () => {
  handled = [];
  const request = `${POST}content-length: 2\r\n\r\n{}`;
  expect(await exchangeRaw(server.url.href, request + request)).toBe("");
});

test("Bun.serve closes without a response on a method it does not know, and a Request makes a GET of it", async () => {
  expect(await exchangeRaw(server.url.href, "FOO / HTTP/1.1\r\nhost: x\r\n\r\n")).toBe("");
  expect(new Request("http://localhost/", { method: "FOO" }).method).toBe("GET");
});
