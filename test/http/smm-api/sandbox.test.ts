// Test keys over /api/v2: the sandbox of /api/v1, in the words of panels. docs/specification/sandbox.md#sandbox.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { IS_TEST_ORDER, LIVE_ORDER_CONDITION } from "../../../src/db/orders/orders.ts";
import { askSmmApi, smmClientOf } from "../../support/http/smm-client.ts";
import { seedSandbox, type Sandbox } from "../../support/seeds/sandbox.ts";
import { openService } from "../../support/worlds/service.ts";
import { createHandClock } from "../../support/hand-clock.ts";

let shop: Sandbox;
let panel: ReturnType<typeof smmClientOf>;
let live: ReturnType<typeof smmClientOf>;

beforeEach(async () => {
  shop = seedSandbox(await openService({ clock: createHandClock() }));
  panel = smmClientOf(shop.url, shop.test);
  live = smmClientOf(shop.url, shop.live);
});
afterEach(async () => {
  await shop.stop();
});

const add = (path: string, of = panel) =>
  of("add", { service: "1", link: `https://test.invalid/${path}`, quantity: "1000" });
const status = async (order: number) => (await panel("status", { order: String(order) })).body;
const ordersOf = (isTest: boolean) =>
  shop.query(`SELECT 1 FROM orders WHERE ${isTest ? IS_TEST_ORDER : LIVE_ORDER_CONDITION}`).length;

test("every response to a test key has X-Test-Mode, whatever it is, and none to a live key does", async () => {
  const modes = async (of: typeof panel) => [
    ...new Set(
      (
        await Promise.all([
          of("services"),
          of("balance"),
          add("complete", of),
          add("429", of),
          of("status", { order: "999" }),
          of("nothing"),
        ])
      ).map(({ headers }) => headers.get("x-test-mode")),
    ),
  ];
  expect(await modes(panel)).toEqual(["true"]);
  expect(await modes(live)).toEqual([null]);
  const unknown = await askSmmApi(shop.url, {
    key: `rk_test_${"x".repeat(28)}`,
    action: "balance",
  });
  expect([unknown.body.error, unknown.headers.get("x-test-mode")]).toEqual([
    "Invalid API key",
    "true",
  ]);
});

test("a response given before the body is read has X-Test-Mode too, when the key is in the URL", async () => {
  const big = new URLSearchParams({ action: "balance", link: "x".repeat(70_000) });
  const ask = async (key: string, method: string, body?: string, type = "application/json") => {
    const url = `${shop.url}/api/v2?key=${key}`;
    const headers: Record<string, string> = body === undefined ? {} : { "content-type": type };
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    await response.text();
    return [response.status, response.headers.get("x-test-mode")];
  };
  for (const [key, mode] of [
    [shop.test, "true"],
    [`rk_test_${"x".repeat(28)}`, "true"],
    [shop.live, null],
    ["", null],
  ] as const) {
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      expect([key, method, await ask(key, method)]).toEqual([key, method, [405, mode]]);
    }
    expect(await ask(key, "POST", String(big), "application/x-www-form-urlencoded")).toEqual([
      413,
      mode,
    ]);
    expect(await ask(key, "POST", "{not JSON")).toEqual([200, mode]);
    expect(await ask(key, "POST", "x", "multipart/form-data; boundary=y")).toEqual([200, mode]);
  }
});

test("a test key has the same services, test money, and orders that the sandbox delivers", async () => {
  expect((await panel("services")).body).toEqual((await live("services")).body);
  expect((await panel("balance")).body).toEqual({ balance: "1000", currency: "USD" });
  const { order } = (await add("partial/157")).body;
  expect((await panel("balance")).body.balance).toBe("990");
  await shop.clock.pass(6000);
  expect(await status(order)).toMatchObject({ status: "Partial", remains: "157", charge: "8.43" });
  expect((await live("balance")).body.balance).toBe("100");
});

test("a live key never sees a test order, a test key never a live one, and magic links are ordinary with a live key", async () => {
  const { order: ofTest } = (await add("complete")).body;
  const { order: ofLive } = (await add("funds", live)).body;
  const unknown = { error: "Incorrect order ID" };
  expect((await live("status", { order: String(ofTest) })).body).toEqual(unknown);
  expect((await panel("status", { order: String(ofLive) })).body).toEqual(unknown);
  const both = { orders: `${ofTest},${ofLive}` };
  expect((await live("status", both)).body[String(ofTest)]).toEqual(unknown);
  expect((await panel("status", both)).body[String(ofLive)]).toEqual(unknown);
  expect([ordersOf(true), ordersOf(false)]).toEqual([1, 1]);
});

test.each([
  ["funds", 200, "neworder.error.not_enough_funds"],
  ["429", 429, "Too many requests"],
  ["503", 503, "Service temporarily unavailable"],
  ["500", 500, "Internal server error"],
])("the link /%s is answered %d %s, and nothing has changed", async (path, code, error) => {
  const answer = await add(path);
  expect([answer.status, answer.body]).toEqual([code, { error }]);
  expect(ordersOf(true)).toBe(0);
  expect((await panel("balance")).body.balance).toBe("1000");
});

test("the link /refuse makes an order that is cancelled and refunded", async () => {
  const { order } = (await add("refuse")).body;
  await shop.clock.pass(1000);
  expect(await status(order)).toMatchObject({ status: "Canceled", charge: "0" });
  expect((await panel("balance")).body.balance).toBe("1000");
});

test("the link /lost makes the order and closes the connection; with its reference it is found again", async () => {
  const fields = {
    service: "1",
    link: "https://test.invalid/lost",
    quantity: "1000",
    reference: "r",
  };
  expect(await panel("add", fields).catch(() => "closed")).toBe("closed");
  expect(ordersOf(true)).toBe(1);
  expect((await panel("add", fields)).body.order).toBeNumber();
  expect(ordersOf(true)).toBe(1);
});
