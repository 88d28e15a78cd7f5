// Deliveries over time: the timer survives failures, retries end, an invalid entry delays no other order.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ReadStore } from "../../src/db/port/port.ts";
import { attempts } from "../../src/db/tables/delivery.ts";
import { refusal } from "../../src/domain/values/error-table.ts";
import { systemClock } from "../../src/scheduling/clock.ts";
import { startDelivery } from "../../src/delivery/delivery.ts";
import { submitBackoffMs } from "../../src/scheduling/backoff.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { connectProvider } from "../../src/providers/protocols.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { openService } from "../support/worlds/service.ts";
import {
  json,
  PROVIDER_KEY,
  type Reply,
  startUpstream,
  type Upstream,
} from "../support/peers/upstream.ts";
import { until } from "../support/until.ts";

const SERVER = "server-of-the-deliveries";
/** However slow the machine is, what comes of an order is known before it is over. */
const NEVER_MS = 600_000;

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

function shopWith(database: TestDatabase) {
  const { url } = upstream;
  database.user("anna", "100");
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  database.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  return database.key("anna", "full");
}

function orderOf(database: TestDatabase, orderId: number) {
  return database.query<{ status: string; placement: string }>(
    "SELECT status, placement FROM orders WHERE order_id = ?",
    orderId,
  )[0]!;
}

test("a tick that fails is logged, and the next one follows", async () => {
  const database = freshDatabase();
  const { id: keyId } = shopWith(database);
  let broken = false;
  const store: ReadStore = {
    read(body) {
      if (broken) throw new Error("no such table, for once");
      return database.store.read(body);
    },
  };
  let tick = () => {};
  const errors: string[] = [];
  const delivery = await startDelivery({
    store,
    serverId: SERVER,
    writer: { submit: (name, input) => Promise.resolve(database.run(name, input)) },
    log: { ...createLog("silent"), error: (_, message) => void errors.push(message) },
    clock: {
      ...systemClock,
      timer: (callback) => ((tick = callback), { set() {}, clear() {} }),
    },
    random: () => 0,
    settings: { placeWaitMs: NEVER_MS, placeRetryMs: 60_000, pollIntervalMs: 1000, pauseAfter: 0 },
    connect: (provider) => connectProvider(provider, NEVER_MS),
  });
  const input = { resellerAccount: 3, keyId, service: "likes", link: "tick", quantity: 100 };
  const { orderId } = database.run("placeOrder", input);
  broken = true;
  tick();
  await new Promise(setImmediate);
  expect(errors).toEqual(["a tick failed"]);
  expect(orderOf(database, orderId).placement).toBe("queued");
  broken = false;
  tick();
  await until(() => orderOf(database, orderId).placement === "placed");
  await delivery.stop(1000);
});

test("after the clock was set back, the schedules are clamped at the first tick at which the database takes writes", async () => {
  const database = freshDatabase();
  shopWith(database);
  let now = Date.now();
  let tick = () => {};
  let isWritable = true;
  const clamps: boolean[] = [];
  const delivery = await startDelivery({
    store: database.store,
    serverId: SERVER,
    writer: {
      submit(name, input) {
        if (name === "clampSchedules") clamps.push(isWritable);
        if (!isWritable) return Promise.reject(refusal("service_unavailable"));
        return Promise.resolve(database.run(name, input));
      },
    },
    log: createLog("silent"),
    clock: {
      ...systemClock,
      now: () => now,
      timer: (callback) => ((tick = callback), { set() {}, clear() {} }),
    },
    random: () => 0,
    settings: { placeWaitMs: NEVER_MS, placeRetryMs: 60_000, pollIntervalMs: 1000, pauseAfter: 0 },
    connect: (provider) => connectProvider(provider, NEVER_MS),
  });
  const tickAndSettle = async () => {
    tick();
    await new Promise(setImmediate);
  };
  await tickAndSettle();
  expect(clamps).toEqual([true]);
  now -= 3_600_000;
  isWritable = false;
  await tickAndSettle();
  await tickAndSettle();
  isWritable = true;
  await tickAndSettle();
  await tickAndSettle();
  expect(clamps).toEqual([true, false, false, true]);
  await delivery.stop(1000);
});

test.each<[what: string, reply: Reply, cause: string]>([
  ["an acceptance", json({ order: 4711 }), "accepted as 4711"],
  ["a refusal", json({ error: "Incorrect link" }), "refused (Incorrect link)"],
  ["a 429", json({}, 429), "not sent (HTTP 429)"],
])(
  "when an internal error prevents storing %s, the order is unknown at once, sent once, and settled by the operator",
  async (what, reply, cause) => {
    const market = await openService({
      settings: { placeWait: NEVER_MS, providerTimeout: NEVER_MS },
    });
    const { text } = shopWith(market);
    market.breakUpdates(attempts, "NEW.outcome <> 'unknown'");
    const link = `internal error after ${what}`;
    upstream.next("add", reply);
    const body = { service: "likes", link, quantity: 100 };
    const answer = await market.call("POST", "/orders", text, body);
    expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
    const { orderId } = answer.body.order;
    expect(orderOf(market, orderId)).toEqual({ status: "PENDING", placement: "unknown" });
    const [noted] = market.query<{ cause: string }>("SELECT cause FROM attempts");
    expect(noted!.cause).toContain(cause);
    expect(market.balance("anna")).toBe(99_800_000);
    market.dropTrigger("broken");
    const settled = market.run("settleOrder", { id: String(orderId), providerOrder: "4711" });
    expect(settled.status).toBe("PROCESSING");
    await market.stop();
    expect(upstream.adds().filter((form) => form["link"] === link).length).toBe(1);
  },
);

test("an outcome that cannot be stored is retried until it can, and each failure is logged", async () => {
  const database = freshDatabase();
  const { id: keyId } = shopWith(database);
  database.breakUpdates(attempts, "true");
  const errors: string[] = [];
  let sent = 0;
  const delivery = await startDelivery({
    store: database.store,
    serverId: SERVER,
    writer: { submit: async (name, input) => database.run(name, input) },
    log: {
      ...createLog("silent"),
      error(_, message) {
        errors.push(message);
        if (errors.length === 4) database.dropTrigger("broken");
      },
    },
    clock: { ...systemClock, timer: () => ({ set() {}, clear() {} }) },
    random: () => 0,
    settings: { placeWaitMs: NEVER_MS, placeRetryMs: 60_000, pollIntervalMs: 1000, pauseAfter: 0 },
    connect: () => ({
      submit: () => {
        sent += 1;
        return Promise.reject(new Error("a fault in the protocol"));
      },
      status: () => Promise.reject(new Error("not asked")),
      cancel: () => Promise.reject(new Error("not asked")),
      refill: () => Promise.reject(new Error("not asked")),
      refillStatus: () => Promise.reject(new Error("not asked")),
      services: () => Promise.reject(new Error("not asked")),
      balance: () => Promise.reject(new Error("not asked")),
    }),
  });
  const input = { resellerAccount: 3, keyId, service: "likes", link: "tick", quantity: 100 };
  const order = await delivery.awaitProvider(database.run("placeOrder", input));
  expect([order.delivery?.placement, sent]).toEqual(["unknown", 1]);
  const unwritten = "an outcome could not be stored";
  expect(errors).toEqual([
    "internal error in a call to a provider",
    unwritten,
    unwritten,
    unwritten,
    "submission outcome unknown: settle it by hand",
  ]);
  await delivery.stop(1000);
});

test("the timer waits a second while nothing is due, else until the next attempt, and less after each attempt", async () => {
  const database = freshDatabase();
  const { id: keyId } = shopWith(database);
  let now = Date.now();
  let tick = () => {};
  const pauses: number[] = [];
  const delivery = await startDelivery({
    store: database.store,
    serverId: SERVER,
    writer: { submit: (name, input) => Promise.resolve(database.run(name, input)) },
    log: createLog("silent"),
    clock: {
      ...systemClock,
      now: () => now,
      timer: (callback) => ((tick = callback), { set: (pause) => pauses.push(pause), clear() {} }),
    },
    random: () => 0,
    settings: { placeWaitMs: NEVER_MS, placeRetryMs: 60_000, pollIntervalMs: 1000, pauseAfter: 0 },
    connect: () => ({
      submit: async () => ({ outcome: "not_sent", cause: "nobody listens" }),
      status: () => Promise.reject(new Error("not asked")),
      cancel: () => Promise.reject(new Error("not asked")),
      refill: () => Promise.reject(new Error("not asked")),
      refillStatus: () => Promise.reject(new Error("not asked")),
      services: () => Promise.reject(new Error("not asked")),
      balance: () => Promise.reject(new Error("not asked")),
    }),
  });
  const pauseAt = async (at: number) => {
    now = at;
    tick();
    await new Promise(setImmediate);
    return pauses.at(-1);
  };
  expect(await pauseAt(now)).toBe(1000);
  const input = { resellerAccount: 3, keyId, service: "likes", link: "tick", quantity: 100 };
  const order = database.run("placeOrder", input);
  now = order.createdAt;
  await delivery.awaitProvider(order);
  expect(pauses.at(-1)).toBe(250);
  const [queued] = database.query<{ next_submit_at: number }>("SELECT next_submit_at FROM orders");
  const dueAt = queued!.next_submit_at;
  expect(await pauseAt(dueAt - 1400)).toBe(1000);
  expect(await pauseAt(dueAt - 600)).toBe(600);
  expect(await pauseAt(dueAt - 10)).toBe(250);
  expect(await pauseAt(dueAt)).toBe(250);
  await delivery.stop(1000);
});

test("a tick applies a provider's changed address and key", async () => {
  const database = freshDatabase();
  const { id: keyId } = shopWith(database);
  const { url } = upstream;
  let tick = () => {};
  const settled: string[] = [];
  const asked: string[] = [];
  const delivery = await startDelivery({
    store: database.store,
    serverId: SERVER,
    writer: { submit: (name, input) => Promise.resolve(database.run(name, input)) },
    log: createLog("silent"),
    clock: {
      ...systemClock,
      timer: (callback) => ((tick = callback), { set: () => settled.push("ticked"), clear() {} }),
    },
    random: () => 0,
    settings: { placeWaitMs: NEVER_MS, placeRetryMs: 60_000, pollIntervalMs: 1000, pauseAfter: 0 },
    connect(provider) {
      if (provider.protocol !== "sandbox")
        asked.push(`${provider.name} ${provider.url} ${provider.key}`);
      return connectProvider(provider, NEVER_MS);
    },
  });
  const input = { resellerAccount: 3, keyId, service: "likes", link: "tick", quantity: 100 };
  const statusOf = async () =>
    (await delivery.awaitProvider(database.run("placeOrder", input))).status;
  expect(await statusOf()).toBe("PROCESSING");
  const before = upstream.adds().length;
  const changes = { url: `${url}/other`, key: "another", name: "acme2" };
  database.run("updateProvider", { name: "acme", changes });
  const ticks = settled.length;
  tick();
  await until(() => settled.length > ticks);
  // Its provider refuses that key.
  expect(await statusOf()).toBe("FAILED");
  expect(upstream.adds().slice(before)).toMatchObject([{ key: "another" }]);
  // Changing only the name needs no new connection.
  expect(asked).toEqual([`acme ${url} ${PROVIDER_KEY}`, `acme2 ${url}/other another`]);
  await delivery.stop(1000);
});

test("an order whose provider cannot be reached until --place-retry is over fails, is refunded, and was never sent", async () => {
  // Without a wait the response is that of a queued order, also where the time is over before a first attempt has ended.
  const market = await openService({ settings: { placeRetry: 300, placeWait: 0 } });
  const { text } = shopWith(market);
  await upstream.down();
  const body = { service: "likes", link: "expires", quantity: 100 };
  const answer = await market.call("POST", "/orders", text, body);
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId } = answer.body.order;
  await until(() => orderOf(market, orderId).status === "FAILED");
  expect(orderOf(market, orderId).placement).toBe("expired");
  expect(market.balance("anna")).toBe(100_000_000);
  await upstream.up();
  await market.stop();
  expect(upstream.adds().filter(({ link }) => link === "expires")).toEqual([]);
});

test("in a poll, invalid and missing entries and an unreadable reply delay no other order", async () => {
  const market = await openService({
    settings: {
      pollInterval: 50,
      placeWait: NEVER_MS,
      providerTimeout: NEVER_MS,
    },
  });
  const { text } = shopWith(market);
  const orders: { orderId: number; link: string }[] = [];
  for (let index = 0; index < 12; index += 1) {
    const body = { service: "likes", link: `batch-${index}`, quantity: 100 };
    orders.push((await market.call("POST", "/orders", text, body)).body.order);
  }
  const entryOf = (link: string) =>
    [...upstream.book.values()].find(({ form }) => form["link"] === link)!;
  const ends = [3, null, "Completed", { error: "Incorrect order ID" }, { status: "Delivered" }];
  for (const [index, { link }] of orders.entries()) {
    const bad = index < ends.length;
    entryOf(link).status = bad ? ends[index] : { status: "Completed", remains: "0" };
  }
  upstream.next("status", { body: "<html>" }, { body: "<html>" }, { status: 500, body: "{}" });
  await until(() =>
    orders
      .slice(ends.length)
      .every(({ orderId }) => orderOf(market, orderId).status === "COMPLETED"),
  );
  for (const { orderId } of orders.slice(0, ends.length)) {
    expect(orderOf(market, orderId).status).toBe("PROCESSING");
  }
  await market.stop();
});

test("backoff grows from at most one second to a minute, with jitter", () => {
  for (let tries = 0; tries < 50; tries += 1) {
    const most = Math.min(1000 * 2 ** tries, 60_000);
    expect(submitBackoffMs(tries, () => 1)).toBe(most);
    expect(submitBackoffMs(tries, () => 0)).toBe(most / 2);
  }
});
