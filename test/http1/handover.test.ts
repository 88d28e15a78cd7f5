// Servers that follow each other on one listener: no request is lost, and each is answered by one of them.

import { expect, test } from "bun:test";
import { ConnectionPool } from "../../src/http1/connection-pool.ts";
import { type Admission, createHandover } from "../../src/http1/handover.ts";
import { listen } from "../../src/http1/listen.ts";
import type { IncomingRequest } from "../../src/http1/request.ts";
import { until } from "../support/until.ts";

const ANY = { hostname: "127.0.0.1", port: 0 };
const LIMIT = 1000;

function open(
  admit: (request: IncomingRequest) => Admission = (request) => ({ request, end() {} }),
) {
  const handover = createHandover(ANY, null, new ConnectionPool(), admit, LIMIT);
  const url = `http://127.0.0.1:${handover.port}`;
  const serve = (handle: (request: IncomingRequest) => Response | Promise<Response>) =>
    listen(
      {
        handle,
        refuse: () => new Response(null, { status: 400 }),
        fail: (error) => new Response(String(error), { status: 500 }),
        bodyLimitBytes: LIMIT,
      },
      handover.address,
      null,
    );
  return { handover, serve, ask: (path = "/") => fetch(url + path) };
}

test("a request before the first server waits for it", async () => {
  const { handover, serve, ask } = open();
  const asked = ask();
  serve(() => new Response("first"));
  handover.switch();
  expect(await (await asked).text()).toBe("first");
  await handover.stop();
});

test("a server that is replaced answers what it has begun, whole bodies too, before its stop resolves", async () => {
  const { handover, serve, ask } = open();
  const held = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const old = serve(async ({ path }) => {
    if (path === "/held") await held.promise;
    if (path !== "/stream") return new Response("old");
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(Buffer.from("old "));
          await written.promise;
          controller.enqueue(Buffer.from("to its end"));
          controller.close();
        },
      }),
    );
  });
  handover.switch();
  const [kept, stream] = [ask("/held"), await ask("/stream")];
  await ask();
  let isStopped = false;
  serve(() => new Response("new"));
  expect(await (await ask()).text()).toBe("old");
  handover.switch();
  const stopped = old.stop().then(() => (isStopped = true));
  expect(await (await ask()).text()).toBe("new");
  held.resolve();
  expect(await (await kept).text()).toBe("old");
  expect(isStopped).toBe(false);
  written.resolve();
  expect(await stream.text()).toBe("old to its end");
  await stopped;
  await handover.stop();
});

test("an admission ends with its response, whatever becomes of that; what is refused reaches no server", async () => {
  let admitted = 0;
  const { handover, serve, ask } = open((request) => {
    if (request.path === "/refused") return { refused: new Response(null, { status: 429 }) };
    admitted++;
    return { request: request.withAddress("192.0.2.1"), end: () => admitted-- };
  });
  let handled = 0;
  const server = serve(({ path, address }) => {
    handled++;
    expect([address, admitted]).toEqual(["192.0.2.1", 1]);
    if (path === "/throws") throw new Error("thrown");
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.alloc(65_536)),
    });
    if (path === "/endless") return new Response(endless);
    return path === "/rejects" ? Promise.reject(new Error("rejected")) : new Response();
  });
  handover.switch();
  expect((await ask("/refused")).status).toBe(429);
  expect(handled).toBe(0);
  expect((await ask("/throws")).status).toBe(500);
  expect((await ask("/rejects")).status).toBe(500);
  expect((await ask()).status).toBe(200);
  expect(admitted).toBe(0);
  await (await ask("/endless")).body!.cancel();
  await until(() => admitted === 0);
  await server.stop();
  await handover.stop();
});
