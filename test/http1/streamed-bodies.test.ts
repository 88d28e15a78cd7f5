// Bodies of responses that are streamed: whole, failed, cancelled.

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { listen } from "../../src/http1/listen.ts";
import { openRaw } from "../support/http/raw.ts";

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

  test("arrives whole although parts of it are empty, and nothing follows it", async () => {
    const parts = ["", "first ", "", "second", ""].map((text) => Buffer.from(text));
    const server = await served(() => {
      let number = 0;
      return new ReadableStream({
        pull(controller) {
          if (number === parts.length) controller.close();
          else controller.enqueue(parts[number++]);
        },
      });
    });
    const connection = await openRaw(server.url);
    connection.send("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    const text = await connection.rest();
    connection.close();
    await server.stop();
    const body = text.slice(text.indexOf("\r\n\r\n") + 4);
    expect(body).toBe("6\r\nfirst \r\n6\r\nsecond\r\n0\r\n\r\n");
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
