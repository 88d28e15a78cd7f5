// Servers that share a database: each order is sent once, whatever becomes of the server that sends it.

import { describe, expect, test } from "bun:test";
import type { SubmissionResult } from "../../src/domain/delivery/deliveries.ts";
import { systemClock } from "../../src/scheduling/clock.ts";
import { type DeliveryService, startDelivery } from "../../src/delivery/delivery.ts";
import type { DeliveryDeps } from "../../src/delivery/provider-worker.ts";
import { CommandError } from "../../src/writer/queue.ts";
import { type StoreShop, seedStoreShop } from "../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../support/databases/stores.ts";
import { until } from "../support/until.ts";

const [A, B] = ["a", "b"].map((name) => name.padEnd(24, "-")) as [string, string];

/** A provider that accepts every order, and the links that it was sent. */
function provider() {
  const links: string[] = [];
  const add = async ({ link }: { link: string }): Promise<SubmissionResult> => {
    links.push(link);
    return { outcome: "accepted", providerOrder: String(links.length) };
  };
  const polled: string[][] = [];
  const status = async (orders: readonly string[]) => {
    polled.push([...orders]);
    const reports = orders.map((order) => {
      const report = { word: "Completed", startCount: 0, remains: 0, text: "" };
      return [order, report] as const;
    });
    return { reports: new Map(reports) };
  };
  return { links, polled, api: { submit: add, status } };
}

/** A clock that a test moves and whose ticks it makes. */
function handClock() {
  let callback = () => {};
  const hand = {
    ahead: 0,
    clock: {
      ...systemClock,
      now: () => Date.now() + hand.ahead,
      timer: (tick: () => void) => ((callback = tick), { set() {}, clear() {} }),
    },
    tick: () => callback(),
  };
  return hand;
}

/** Rejects the first command of that name with `outcome_unknown`, after it was committed or instead. */
function losing({ writer, ...deps }: DeliveryDeps, lost: string, isCommitted = true): DeliveryDeps {
  let isLost = false;
  const submit: DeliveryDeps["writer"]["submit"] = async (name, input) => {
    if (name !== lost || isLost) return writer.submit(name, input);
    isLost = true;
    if (isCommitted) await writer.submit(name, input);
    throw new CommandError("the connection was lost", "outcome_unknown");
  };
  return { ...deps, writer: { submit } };
}

async function end(shop: StoreShop, ...services: DeliveryService[]): Promise<void> {
  await Promise.all(services.map((service) => service.stop(1000)));
  await shop.store.close();
}

describe.each(ENGINES)("on %s", (engine) => {
  test("two servers that run share the queue and the polls: each of 60 orders is sent once and ends", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 3 });
    const acme = provider();
    for (let index = 0; index < 60; index += 1) await shop.order(index % 3);
    await Promise.all([A, B].map((server) => shop.live(server)));
    const [a, b] = await Promise.all([
      startDelivery(shop.server(A, acme.api)),
      startDelivery(shop.server(B, acme.api)),
    ]);
    const completed = async () => {
      const rows = await shop.store.query("SELECT status FROM orders");
      return rows.every(({ status }) => status === "COMPLETED");
    };
    await until(completed);
    await end(shop, a!, b!);
    expect(acme.links.length).toBe(60);
    expect(new Set(acme.links).size).toBe(60);
  });

  const replies: [string, SubmissionResult][] = [
    ["PROCESSING", { outcome: "accepted", providerOrder: "4711" }],
    ["FAILED", { outcome: "refused", cause: "no", outOfFunds: false }],
    ["PENDING", { outcome: "unknown", cause: "no reply" }],
    ["PENDING", { outcome: "not_sent", cause: "ECONNREFUSED" }],
  ];
  test.each(["before", "while"])(
    "an order that another server begins to send %s this one looks for it is answered with the outcome there",
    async (moment) => {
      for (const [status, result] of replies) {
        const shop = await seedStoreShop(await freshStore(engine));
        await Promise.all([A, B].map((server) => shop.live(server)));
        const acme = provider();
        const deps = shop.server(A, { submit: acme.api.submit });
        const { orderId, ...order } = await shop.order();
        const tried = Promise.withResolvers<void>();
        let attemptId: number | undefined;
        const beginAtB = async () => {
          const started = await shop.start(orderId, B);
          if (started.send) ({ attemptId } = started);
        };
        if (moment === "before") await beginAtB();
        const submit: DeliveryDeps["writer"]["submit"] = async (name, input) => {
          if (name === "startAttempt" && attemptId === undefined) await beginAtB();
          const output = await deps.writer.submit(name, input);
          if (name === "startAttempt") tried.resolve();
          return output;
        };
        const a = await startDelivery({ ...deps, writer: { submit } });
        const answer = a.awaitProvider({ orderId, ...order });
        if (moment === "while") await tried.promise;
        const times = { placeRetryMs: 3_600_000, backoffMs: 60_000 };
        await shop.run("finishAttempt", { orderId, attemptId: attemptId!, result, ...times });
        expect((await answer).status).toBe(status as never);
        expect(acme.links).toEqual([]);
        await end(shop, a);
      }
    },
  );

  test("a server that is suspended while the provider replies loses its attempt to unknown, and the reply then places the order", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    await shop.live(A);
    const reply = Promise.withResolvers<SubmissionResult>();
    let sent = 0;
    const add = () => ((sent += 1), reply.promise);
    const warned: string[] = [];
    const deps = shop.server(A, { submit: add });
    const log = { ...deps.log, warn: (_: object, message: string) => void warned.push(message) };
    const a = await startDelivery({ ...deps, log });
    const order = await shop.order();
    const placed = a.awaitProvider(order);
    await until(async () => sent === 1);

    const hand = handClock();
    const other = shop.server(B, provider().api);
    const writer: DeliveryDeps["writer"] = {
      submit: (name, input) => shop.run(name, input, hand.clock.now()),
    };
    const b = await startDelivery({ ...other, clock: hand.clock, writer });
    expect((await shop.state(order.orderId)).placement).toBe("sending");
    await shop.die(A);
    hand.ahead = 20_000;
    hand.tick();
    const placement = async () => (await shop.state(order.orderId)).placement;
    await until(async () => (await placement()) === "unknown");

    reply.resolve({ outcome: "accepted", providerOrder: "4711" });
    expect((await placed).status).toBe("PROCESSING");
    expect(await placement()).toBe("placed");
    expect(warned).toContain("a late outcome settled an unknown submission");
    expect(sent).toBe(1);
    await end(shop, a, b);
  });

  test("an attempt that started so late that others may have taken it over is not sent, and is made again", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const acme = provider();
    const hand = handClock();
    const deps = shop.server(A, acme.api);
    const starts: number[] = [];
    const submit: DeliveryDeps["writer"]["submit"] = async (name, input) => {
      const output = await shop.run(name, input, hand.clock.now());
      if (name === "startAttempt" && starts.push(acme.links.length) === 1) hand.ahead += 20_000;
      return output;
    };
    const a = await startDelivery({ ...deps, clock: hand.clock, writer: { submit } });
    const order = await a.awaitProvider(await shop.order());
    expect([order.delivery?.placement, acme.links.length]).toEqual(["queued", 0]);
    hand.ahead += 20_000;
    hand.tick();
    const placement = async () => (await shop.state(order.orderId)).placement;
    await until(async () => (await placement()) === "placed");
    expect([starts, acme.links.length]).toEqual([[0, 0], 1]);
    await end(shop, a);
  });

  test("an attempt whose start was committed unnoticed was not sent: it is found, queued again and sent once", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const acme = provider();
    const hand = handClock();
    const deps = { ...shop.server(A, acme.api), clock: hand.clock };
    const a = await startDelivery(losing(deps, "startAttempt"));
    const { orderId } = await shop.order();
    const placement = async () => (await shop.state(orderId)).placement;
    hand.tick();
    await until(async () => (await placement()) === "sending");
    hand.ahead += 10_000;
    const sent = async () => {
      hand.tick();
      return (await placement()) === "placed";
    };
    await until(sent);
    expect(acme.links.length).toBe(1);
    await end(shop, a);
  });

  test.each([
    ["was committed", true],
    ["was lost", false],
  ])(
    "an acceptance that may or may not have been stored counts once: it %s",
    async (_, isCommitted) => {
      const shop = await seedStoreShop(await freshStore(engine));
      const acme = provider();
      const a = await startDelivery(losing(shop.server(A, acme.api), "finishAttempt", isCommitted));
      const order = await a.awaitProvider(await shop.order());
      // On a slow machine its first poll may have ended it by now.
      expect(order.delivery?.placement).toBe("placed");
      expect(acme.links.length).toBe(1);
      await end(shop, a);
    },
  );

  test("a server never touches its own attempt while the call is under way, and no attempt is queued again after the server stopped", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const hand = handClock();
    let sent = 0;
    const add = (_: object, stop: AbortSignal) => {
      sent += 1;
      return new Promise<SubmissionResult>((resolve) => {
        stop.addEventListener("abort", () => resolve({ outcome: "unknown", cause: "stopped" }));
      });
    };
    const deps = shop.server(A, { submit: add });
    let finishes = 0;
    const submit: DeliveryDeps["writer"]["submit"] = (name, input) => {
      if (name !== "finishAttempt") return deps.writer.submit(name, input);
      finishes += 1;
      return Promise.reject(new Error("gone"));
    };
    const held = Promise.withResolvers<void>();
    const checks = { read: 0, areHeld: false };
    const store: DeliveryDeps["store"] = {
      async read(body) {
        const result: unknown = await deps.store.read(body);
        if (
          Array.isArray(result) &&
          result.some((row) => Object.hasOwn(Object(row), "attemptId"))
        ) {
          checks.read += 1;
          if (checks.areHeld) await held.promise;
        }
        return result as never;
      },
    };
    const a = await startDelivery({ ...deps, store, clock: hand.clock, writer: { submit } });
    const { orderId } = await shop.order();
    hand.tick();
    await until(async () => sent === 1);

    const check = async () => {
      const before = checks.read;
      hand.ahead += 10_000;
      hand.tick();
      await until(async () => checks.read > before);
      await new Promise(setImmediate);
    };
    await check();
    expect(finishes).toBe(0);

    // The attempts are read before the stop, and looked at after it.
    checks.areHeld = true;
    await check();
    const stopped = a.stop(0);
    await until(async () => finishes === 1);
    await new Promise(setImmediate);
    held.resolve();
    await stopped;
    expect(finishes).toBe(1);
    expect((await shop.state(orderId)).placement).toBe("sending");
    const b = await startDelivery(shop.server(B, { submit: add }));
    expect((await shop.state(orderId)).placement).toBe("unknown");
    expect(sent).toBe(1);
    await end(shop, b);
  });
});
