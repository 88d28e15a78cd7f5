// Calls out of a process that has no file descriptor left.

import { expect, test } from "bun:test";
import { createSender, limitCalls } from "../../src/providers/call.ts";
import { smmApi } from "../../src/providers/smm-api.ts";

const SCRIPT = new URL("./short-of-files.ts", import.meta.url).pathname;
const ORDER = { service: "1", link: "x", fields: {}, orderId: 1, createdAt: 0 };
const never = new AbortController().signal;

test("without a file descriptor orders, webhooks and alerts are not sent, and the fault is not put on their receivers", async () => {
  let heard = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      heard++;
      return Response.json({ order: 1, ok: true });
    },
  });
  const command = `ulimit -n 100 && exec "$0" "$1" "$2"`;
  const child = Bun.spawn(["bash", "-c", command, process.execPath, SCRIPT, server.url.href], {
    stderr: "inherit",
  });
  const results = await new Response(child.stdout).json();
  expect(results).toEqual({
    order: { kind: "failure", failure: "not_called", cause: "EMFILE" },
    webhook: expect.objectContaining({ httpStatus: null, error: "internal" }),
    telegram: expect.objectContaining({ httpStatus: null, error: "internal" }),
  });
  // Those of the time before.
  expect(heard).toBe(3);
});

test("an order beyond the limit of calls is not sent, and stays with its provider", async () => {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let heard = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch() {
      heard++;
      asked.resolve();
      await held.promise;
      return Response.json({ order: heard });
    },
  });
  const api = smmApi(createSender(server.url.href, 600_000), "key");
  limitCalls(1);
  try {
    const first = api.submit(ORDER, never);
    await asked.promise;
    expect(await api.submit(ORDER, never)).toEqual({
      outcome: "not_sent",
      cause: "too many calls are in progress",
      providerNotCalled: true,
    });
    held.resolve();
    expect((await first).outcome).toBe("accepted");
    expect((await api.submit(ORDER, never)).outcome).toBe("accepted");
    expect(heard).toBe(2);
  } finally {
    limitCalls(Infinity);
  }
});
