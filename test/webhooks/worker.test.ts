// The worker over a real queue, sending to receivers of this machine: what is due is delivered, within its limits, whatever
// fails meanwhile.

import { afterEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { parseNetwork } from "../../src/config/networks.ts";
import { createId } from "../../src/db/port/ids.ts";
import { insertUser } from "../../src/db/users/users.ts";
import { systemClock } from "../../src/scheduling/clock.ts";
import { startTicker, type Ticker } from "../../src/scheduling/ticker.ts";
import { refusal } from "../../src/domain/values/error-table.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { createWebhookSender, type WebhookReply } from "../../src/webhooks/sender.ts";
import { startWebhooks, type WebhookDeps } from "../../src/webhooks/worker.ts";
import { ENGINES, freshStore } from "../support/databases/stores.ts";
import { startReceiver } from "../support/peers/webhook-receiver.ts";
import { seedStoreShop, type TestEndpoint, type StoreShop } from "../support/seeds/store-shop.ts";
import { until } from "../support/until.ts";

const [A, B] = ["a", "b"].map((name) => name.padEnd(24, "-")) as [string, string];
const OK: WebhookReply = { httpStatus: 200, error: null, response: "", retryAfterSeconds: null };
/** Limit for a stop that must record everything. */
const NEVER_MS = 600_000;
const policy = { allow: [parseNetwork("127.0.0.0/8")!], allowHttp: true };

const tickers: Ticker[] = [];
afterEach(() => tickers.splice(0).forEach((ticker) => ticker.stop()));

function depsOf(shop: StoreShop, given: Partial<WebhookDeps> = {}): WebhookDeps {
  const clock = given.clock ?? systemClock;
  const ticker = startTicker(
    { clock, log: createLog("silent") },
    async () => null,
    () => {},
  );
  tickers.push(ticker);
  return {
    store: shop.store,
    serverId: A,
    writer: { submit: (name, input) => shop.run(name, input, Date.now()) },
    log: createLog("silent"),
    clock,
    ticker,
    random: Math.random,
    send: createWebhookSender({ policy, now: Date.now }),
    ...given,
  };
}

/** An endpoint is slow by this clock alone, and never because the machine is. */
function handClock() {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  /** To the time of the machine, or to so much later if that is later still. */
  const advance = (milliseconds = 0) => void (now = Math.max(now + milliseconds, Date.now()));
  return { clock, advance };
}

/** A sender of which each call waits until the test ends it. */
function heldSender() {
  const held: { url: string; eventId: string; end: (reply: WebhookReply) => void }[] = [];
  const send: WebhookDeps["send"] = ({ url, eventId }, stop) =>
    new Promise((resolve) => {
      held.push({ url, eventId, end: resolve });
      stop.addEventListener("abort", () => resolve({ ...OK, httpStatus: null, error: "stopped" }));
    });
  return { held, send };
}

const states = async (shop: StoreShop) =>
  (await shop.deliveries()).map(({ state, attempts }) => `${String(state)} ${String(attempts)}`);

async function events(shop: StoreShop, endpoint: TestEndpoint, count: number, body?: string) {
  for (let index = 0; index < count; index += 1) await shop.event(endpoint, Date.now() - 1, body);
}

describe.each(ENGINES)("on %s", (engine) => {
  test("due events are delivered once, as stored, and the standardwebhooks library verifies each", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const receiver = await startReceiver();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const endpoints = [await shop.endpoint({ url }), await shop.endpoint({ url: `${url}b` })];
    const sent = new Map<string, { body: string; secret: string }>();
    for (let index = 0; index < 60; index += 1) {
      const endpoint = endpoints[index % 2]!;
      const body = `{"type":"webhook.test","data":{"n":${index},"text":"ä\\u0000😀"}}`;
      sent.set(await shop.event(endpoint, Date.now(), body), { body, secret: endpoint.secret });
    }
    const outcomes: string[] = [];
    const service = startWebhooks(depsOf(shop, { onAttempt: (outcome) => outcomes.push(outcome) }));
    await until(async () => (await states(shop)).every((state) => state === "delivered 1"));
    await service.stop(1000);
    expect(outcomes).toEqual(Array.from({ length: 60 }, () => "delivered"));
    expect(receiver.received).toHaveLength(60);
    for (const { headers, body } of receiver.received) {
      const event = sent.get(headers["webhook-id"]!)!;
      sent.delete(headers["webhook-id"]!);
      expect(body).toBe(event.body);
      new Webhook(event.secret).verify(body, headers);
    }
    await receiver.stop();
    await shop.store.close();
  });

  test("no metric counts webhooks of test accounts", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const receiver = await startReceiver();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const live = await shop.endpoint({ url });
    const account = await shop.store.run((tx) => {
      const names = { username: "test:alice", name: "", parentAccount: null };
      return insertUser(tx, { ...names, id: createId(), createdAt: 1, testOf: live.account });
    });
    for (const endpoint of [live, await shop.endpoint({ url, account })]) {
      await shop.event(endpoint, Date.now());
    }
    const outcomes: string[] = [];
    const service = startWebhooks(depsOf(shop, { onAttempt: (outcome) => outcomes.push(outcome) }));
    await until(async () => (await states(shop)).every((state) => state === "delivered 1"));
    await service.stop(1000);
    expect(receiver.received).toHaveLength(2);
    expect(outcomes).toEqual(["delivered"]);
    await receiver.stop();
    await shop.store.close();
  });

  test("at most 4 are under way to one endpoint and 64 in all; what has ended makes room", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    for (let index = 0; index < 20; index += 1) {
      await events(shop, await shop.endpoint({ url: `http://h${index}.test/` }), 6);
    }
    const { held, send } = heldSender();
    const service = startWebhooks(depsOf(shop, { send, clock: handClock().clock }));
    await until(() => held.length === 60);
    const most = (all: typeof held) =>
      Math.max(
        ...Map.groupBy(all, ({ url }) => url)
          .values()
          .map((each) => each.length),
      );
    expect(most(held)).toBeLessThanOrEqual(4);
    expect(new Set(held.map(({ url }) => url)).size).toBe(20);
    const [first] = held;
    first!.end(OK);
    await until(() => held.length === 61);
    expect(most(held.slice(1))).toBeLessThanOrEqual(4);
    let ended = 1;
    while (ended < 120) {
      await until(() => held.length > ended);
      held[ended]!.end(OK);
      ended += 1;
      expect(held.length - ended).toBeLessThanOrEqual(64);
    }
    await service.stop(NEVER_MS);
    expect(new Set(await states(shop))).toEqual(new Set(["delivered 1"]));
    expect(held).toHaveLength(120);
    await shop.store.close();
  });

  test("endpoints that hang, however many, leave room for the others", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    for (let index = 0; index < 70; index += 1) {
      const failing = { url: `http://hangs${index}.test/`, failures: 1 };
      await events(shop, await shop.endpoint(failing), 5);
    }
    const { held, send } = heldSender();
    const { clock, advance } = handClock();
    const service = startWebhooks(
      depsOf(shop, {
        clock,
        send: (request, stop) =>
          request.url === "http://good.test/" ? Promise.resolve(OK) : send(request, stop),
      }),
    );
    await until(() => held.length === 32);
    await events(shop, await shop.endpoint({ url: "http://good.test/" }), 300);
    advance();
    const delivered = async () =>
      (await states(shop)).filter((state) => state === "delivered 1").length;
    await until(async () => (await delivered()) === 300);
    expect(held).toHaveLength(32);
    await service.stop(0);
    await shop.store.close();
  });

  test("endpoints that reply slowly have one at a time, and half of the room together", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    for (let index = 0; index < 40; index += 1) {
      await events(shop, await shop.endpoint({ url: `http://slow${index}.test/` }), 5);
    }
    const { clock, advance } = handClock();
    const { held, send } = heldSender();
    const service = startWebhooks(depsOf(shop, { send, clock }));
    // Places are left for other resellers.
    await until(() => held.length === 62);
    // All of them take two seconds, and so do those that are begun then.
    advance(2000);
    for (const { end } of held.splice(0)) end(OK);
    await until(() => held.length === 32);
    expect(new Set(held.map(({ url }) => url)).size).toBe(32);
    await events(shop, await shop.endpoint({ url: "http://new.test/" }), 4);
    advance();
    await until(() => held.length === 36);
    await service.stop(0);
    await shop.store.close();
  });

  test("two resellers whose endpoints answered fast and then hang do not delay other resellers' webhooks", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const hostile = [];
    for (let reseller = 0; reseller < 2; reseller += 1) {
      const { account } = await shop.endpoint({ url: "http://idle.test/" });
      for (let index = 0; index < 10; index += 1) {
        hostile.push(await shop.endpoint({ url: `http://hostile${index}.test/`, account }));
      }
    }
    for (const endpoint of hostile) await events(shop, endpoint, 20);
    const held: string[] = [];
    const served: string[] = [];
    const answers = new Map<string, number>();
    const { clock, advance } = handClock();
    const send: WebhookDeps["send"] = ({ url, secrets: [secret] }, stop) => {
      const count = (answers.get(secret!) ?? 0) + 1;
      answers.set(secret!, count);
      if (!url.includes("hostile") || count <= 4) {
        served.push(url);
        return Promise.resolve(OK);
      }
      held.push(url);
      return new Promise((resolve) =>
        stop.addEventListener("abort", () =>
          resolve({ ...OK, httpStatus: null, error: "stopped" }),
        ),
      );
    };
    const service = startWebhooks(depsOf(shop, { send, clock }));
    // Each may have half as many as are free: 16 and 16 of 64 if they hang at the same time; 21 and 14 if one hangs first.
    // None of them is slow yet.
    await until(() => held.length >= 32);
    for (let index = 0; index < 40; index += 1) {
      await events(shop, await shop.endpoint({ url: `http://fine${index}.test/` }), 1);
    }
    advance();
    await until(() => served.filter((url) => url.includes("fine")).length === 40);
    expect(held.length).toBeLessThanOrEqual(35);
    await service.stop(0);
    await shop.store.close();
  });

  test("what a server had under way when it was killed is sent by another one, with the same id and body", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await events(shop, await shop.endpoint({ url: "http://a.test/" }), 3, '{"a":1}');
    const killed = heldSender();
    const first = startWebhooks(depsOf(shop, { send: killed.send }));
    await until(() => killed.held.length === 3);
    const second = heldSender();
    const service = startWebhooks(depsOf(shop, { serverId: B, send: second.send }));
    await until(() => second.held.length === 3);
    const ids = (all: typeof killed.held) => all.map(({ eventId }) => eventId).toSorted();
    expect(ids(second.held)).toEqual(ids(killed.held));
    for (const { end } of second.held) end(OK);
    await service.stop(NEVER_MS);
    expect(await states(shop)).toEqual(Array.from({ length: 3 }, () => "delivered 2"));
    await first.stop(0);
    await shop.store.close();
  });

  test("two servers share the queue: each delivery is made once", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    for (const server of [A, B]) {
      await shop.run("renewLease", { id: server, name: server, ended: [] });
    }
    for (let index = 0; index < 10; index += 1) {
      await events(shop, await shop.endpoint({ url: `http://h${index}.test/` }), 20);
    }
    const sent: string[] = [];
    const send: WebhookDeps["send"] = async ({ eventId }) => {
      sent.push(eventId);
      await Bun.sleep(1);
      return OK;
    };
    const services = [A, B].map((serverId) => startWebhooks(depsOf(shop, { serverId, send })));
    await until(async () => (await states(shop)).every((state) => state === "delivered 1"));
    await Promise.all(services.map((service) => service.stop(1000)));
    expect(sent).toHaveLength(200);
    expect(new Set(sent).size).toBe(200);
    await shop.store.close();
  });

  test("a stop waits for calls in flight, records them and begins nothing new", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await events(shop, await shop.endpoint(), 10);
    const { held, send } = heldSender();
    const service = startWebhooks(depsOf(shop, { send }));
    await until(() => held.length === 4);
    const stopping = service.stop(60_000);
    for (const { end } of held) end(OK);
    await stopping;
    expect(held).toHaveLength(4);
    const delivered = (await states(shop)).filter((state) => state === "delivered 1");
    expect(delivered).toHaveLength(4);
    await shop.store.close();
  });

  test("a stop aborts what takes longer: that is not recorded, and sent by the next start at once", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await events(shop, await shop.endpoint(), 1);
    const { held, send } = heldSender();
    const service = startWebhooks(depsOf(shop, { send }));
    await until(() => held.length === 1);
    await service.stop(10);
    expect(await states(shop)).toEqual(["sending 1"]);
    const next = startWebhooks(depsOf(shop, { serverId: B, send: async () => OK }));
    await until(async () => (await states(shop))[0] === "delivered 2");
    await next.stop(1000);
    await shop.store.close();
  });

  test("an outcome that the database refuses at first is stored later, and the webhook not sent again", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await events(shop, await shop.endpoint(), 1);
    let refusals = 0;
    let sends = 0;
    const writer: WebhookDeps["writer"] = {
      submit(name, input) {
        if (name !== "recordWebhookAttempts" || refusals === 3)
          return shop.run(name, input, Date.now());
        refusals += 1;
        return Promise.reject(refusal("service_unavailable"));
      },
    };
    const send = async () => ((sends += 1), OK);
    const service = startWebhooks(depsOf(shop, { writer, send }));
    await until(async () => (await states(shop))[0] === "delivered 1");
    await service.stop(1000);
    expect({ sends, refusals }).toEqual({ sends: 1, refusals: 3 });
    await shop.store.close();
  });

  test("an outcome that cannot be stored does not prevent storing others", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const bad = await shop.endpoint({ url: "http://bad.test/" });
    const good = await shop.endpoint({ url: "http://good.test/" });
    await events(shop, bad, 1);
    await events(shop, good, 3);
    const { held, send } = heldSender();
    const service = startWebhooks(depsOf(shop, { send }));
    await until(() => held.length === 4);
    // No status of HTTP: the schema refuses it.
    for (const { url, end } of held) {
      end(url === "http://bad.test/" ? { ...OK, httpStatus: 7 } : OK);
    }
    await until(async () => {
      const delivered = (await states(shop)).filter((state) => state === "delivered 1");
      return delivered.length === 3;
    });
    await service.stop(1000);
    expect((await states(shop)).toSorted()[3]).toBe("sending 1");
    await shop.store.close();
  });
});
